// Runs one example in its environment, and prints one line of JSON about it, as record_python.py does.
//
//     node record_node.cjs SECONDS FOLDER PACKAGE < example
//
// FOLDER has the package in node_modules. The example runs in a process of its own, in a group that ends with it.
"use strict";

const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { fileURLToPath } = require("node:url");

const MAX_OUTPUT_BYTES = 32768;
const MAX_RECORD_BYTES = 262144;
const MAX_COVERAGE_BYTES = 32e6;
const MAX_FUNCTIONS = 2000;
const EXAMPLE = "<example>";
const MEMORY = "--max-old-space-size=1000"; // half of a container's, which would end it without a word
const NO_MEMORY = /JavaScript heap out of memory|invalid size error/; // what V8 says last, also of one array
const FRAME = /^\s+at (?:(?:async )?(?:new )?(.+?) \()?((?:file:\/\/)?[^()]+?):(\d+):\d+\)?$/;
const SPECIFIER = /(?:\brequire\(|\bfrom\s|\bimport\s?\(?)\s*['"]([^'"]+)['"]/g;

function read(stream, limit) {
  const pieces = [];
  let room = limit;
  stream.on("data", (piece) => {
    if (room > 0) pieces.push(piece.subarray(0, room));
    room -= piece.length;
  });
  return () => Buffer.concat(pieces).toString("utf8");
}

function run(code, type, seconds, folder, coverage) {
  const hook = [MEMORY, "--require", __filename, `--input-type=${type}`, "--eval", code];
  const child = spawn(process.execPath, hook, {
    cwd: folder,
    detached: true,
    env: { ...process.env, NODE_V8_COVERAGE: coverage, TRIAGE_RECORD: "1" },
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  const [output, record] = [read(child.stdout, MAX_OUTPUT_BYTES), read(child.stdio[3], MAX_RECORD_BYTES)];
  let log = ""; // its end
  child.stderr.on("data", (piece) => (log = (log + piece).slice(-MAX_OUTPUT_BYTES)));
  const noMemory = JSON.stringify({ type: "Error", message: "out of memory", stack: "", causes: [] });
  return new Promise((resolve) => {
    let late = false;
    const end = () => {
      try {
        process.kill(process.pid === 1 ? -1 : -child.pid, "SIGKILL");
      } catch {
        // all have ended
      }
    };
    const timer = setTimeout(() => ((late = true), end()), seconds * 1000);
    child.on("exit", (status, signal) => {
      clearTimeout(timer);
      end();
      const result = () =>
        resolve({
          code: signal ? -os.constants.signals[signal] : status,
          late,
          output: output(),
          record: record() || (signal && NO_MEMORY.test(log) ? noMemory : ""),
        });
      setTimeout(result, 100); // the rest of the pipes
    });
  });
}

function readFunctions(coverage, inside) {
  const counts = new Map();
  for (const name of fs.readdirSync(coverage)) {
    const report = path.join(coverage, name);
    const found = fs.lstatSync(report); // the example can write there, too
    if (!found.isFile() || found.size > MAX_COVERAGE_BYTES) throw new Error("no coverage");
    for (const script of JSON.parse(fs.readFileSync(report, "utf8")).result) {
      const file = script.url.startsWith("file:") ? fileURLToPath(script.url) : "";
      if (!isOwn(file, inside)) continue;
      const text = fs.readFileSync(file, "utf8");
      for (const { functionName, ranges } of script.functions) {
        if (!functionName || !ranges[0].count) continue;
        const line = text.slice(0, ranges[0].startOffset).split("\n").length;
        counts.set(JSON.stringify([shorten(file, inside), line, functionName]), ranges[0].count);
      }
    }
  }
  return counts;
}

function isOwn(file, inside) {
  return file.startsWith(inside) && !file.slice(inside.length).includes("node_modules" + path.sep);
}

// Paths in the package begin with a slash, as if it were the root: those of the repository follow it.
function shorten(file, inside) {
  if (file.includes("[eval")) return EXAMPLE;
  return isOwn(file, inside) ? `/${file.slice(inside.length)}` : "other";
}

function describe(text, inside) {
  const error = JSON.parse(text);
  const found = error.stack.split("\n").map((line) => FRAME.exec(line)).filter(Boolean);
  const frames = found.map(([, name, file, line]) => {
    const plain = file.startsWith("file:") && !file.includes("[eval") ? fileURLToPath(file) : file;
    return [shorten(plain, inside), Number(line), name || ""];
  });
  return { type: error.type, message: error.message, causes: error.causes, frames: frames.reverse().slice(-100) };
}

async function main(seconds, folder, name) {
  const code = fs.readFileSync(0, "utf8");
  const found = path.join(folder, "node_modules", name);
  const inside = (fs.existsSync(found) ? fs.realpathSync(found) : found) + path.sep; // it may be a link
  const type = /^\s*(?:import\s|import\{|export\s)/m.test(code) ? "module" : "commonjs";
  const [first, second] = [0, 1].map(() => fs.mkdtempSync(path.join(os.tmpdir(), "record-")));
  const specifiers = [...new Set([...code.matchAll(SPECIFIER)].map((found) => found[1]))];
  const imports = specifiers.map((one) => (type === "module" ? `import ${JSON.stringify(one)};` : `require(${JSON.stringify(one)});`));
  const result = await run(code, type, seconds, folder, first);
  let record = null;
  try {
    const errors = result.record ? [describe(result.record, inside)] : [];
    await run(imports.join("\n"), type, seconds, folder, second);
    const before = readFunctions(second, inside);
    const executed = [...readFunctions(first, inside)].filter(([key, count]) => count > (before.get(key) ?? 0));
    const keys = executed.slice(0, MAX_FUNCTIONS).map(([key]) => JSON.parse(key));
    record = { errors, executed: keys, folders: [""] };
  } catch {
    // what the example left cannot be read
  }
  try {
    for (const one of [first, second]) fs.rmSync(one, { recursive: true, force: true });
  } catch {
    // the example made it so
  }
  const runtime = `Node.js ${process.versions.node}`;
  process.stdout.write(`${JSON.stringify({ ...result, runtime, record })}\n`, () => process.exit());
}

if (process.env.TRIAGE_RECORD) {
  delete process.env.TRIAGE_RECORD;
  console.warn = console.error = console.log; // people see both
  process.once("uncaughtExceptionMonitor", (error) => {
    const causes = [];
    for (let cause = error; cause && causes.length < 10; cause = cause.cause) {
      causes.push(...[cause.name, cause.code].filter((one) => typeof one === "string"));
    }
    const type = String(error?.name ?? "Error");
    const known = { type, message: String(error?.message ?? error), stack: String(error?.stack ?? ""), causes: causes.slice(0, 10) };
    fs.writeSync(3, JSON.stringify(known));
  });
} else {
  process.on("SIGUSR1", () => {}); // it would open the inspector, with which the example could write our result
  main(Number(process.argv[2]), process.argv[3], process.argv[4]);
}
