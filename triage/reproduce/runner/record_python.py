"""Runs one example in its environment, and prints one line of JSON about it. Needs Python 3.6 and nothing else.

    python record_python.py SECONDS SESSION MODULE… < example

This process is the parent. It starts itself again to run the example, reads what that prints, and ends it after
SECONDS. In a container it is process 1, which the example cannot signal, and whose files the example cannot open. The
child writes its record to a pipe once; whatever the example writes there itself is about its own run only.
"""

import ast
import json
import os
import signal
import subprocess
import sys
import threading
import traceback
from contextlib import suppress

MAX_OUTPUT_BYTES = 32768
MAX_RECORD_BYTES = 262144
MAX_FUNCTIONS = 2000
MAX_FRAMES = 100
MAX_MESSAGE_CHARS = 2000
MAX_ERRORS = 5
EXAMPLE = "<example>"


def own_file():
    return own_file.__code__.co_filename


def run_parent(seconds, arguments):
    """Run the example that is given in a child, and print what it did as JSON, which `read_record` reads."""
    example = sys.stdin.buffer.read()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # process 1 of a container gets only what it has a handler for
    hide_from_children()
    record_end, write_end = os.pipe()
    child = subprocess.Popen(
        [sys.executable, os.path.abspath(__file__), "--child", str(write_end)] + arguments,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        pass_fds=[write_end],
        start_new_session=True,
    )
    os.close(write_end)
    pipes = [(child.stdout.fileno(), MAX_OUTPUT_BYTES), (record_end, MAX_RECORD_BYTES)]
    pieces = [bytearray() for _ in pipes]
    readers = [threading.Thread(target=read_pipe, args=(pipe, into), daemon=True) for pipe, into in zip(pipes, pieces)]
    for reader in readers:
        reader.start()
    is_late = False
    with suppress(OSError):
        child.stdin.write(example)
        child.stdin.close()
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        is_late = True
    end_all(child)
    for reader in readers:
        reader.join(1.0)
    output, record = (bytes(piece) for piece in pieces)
    result = {
        "code": child.returncode,
        "late": is_late,
        "runtime": "Python %d.%d.%d" % sys.version_info[:3],
        "output": output.decode("utf-8", "replace"),
        "record": parse_record(record),
    }
    sys.stdout.write(json.dumps(result) + "\n")


def hide_from_children():
    """Without this a process of the same user could write into our pipes by /proc."""
    with suppress(Exception):  # not Linux: no container either
        import ctypes

        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE


def end_all(child):
    targets = [lambda: os.killpg(child.pid, signal.SIGKILL)]
    if os.getpid() == 1:
        targets.append(lambda: os.kill(-1, signal.SIGKILL))
    for kill in targets:
        with suppress(OSError):
            kill()
    child.wait()


def read_pipe(pipe, into):
    number, limit = pipe
    while True:
        try:
            piece = os.read(number, 65536)
        except OSError:
            return
        if not piece:
            return
        into += piece[: max(0, limit - len(into))]


def parse_record(data):
    try:
        return json.loads(data.decode("utf-8", "replace"))
    except ValueError:
        return None


class Recorder:
    """Remembers which functions in the project's folders and single files are executed."""

    def __init__(self, folders):
        self.folders = tuple(one if one.endswith(".py") else one + os.sep for one in folders)
        self.seen = set()

    def add(self, code):
        path = code.co_filename
        if path.startswith(self.folders) and code.co_name != "<module>" and len(self.seen) < MAX_FUNCTIONS:
            self.seen.add((path, code.co_firstlineno, getattr(code, "co_qualname", code.co_name)))

    def start(self):
        if sys.version_info < (3, 12):
            threading.setprofile(self.on_event)
            sys.setprofile(self.on_event)
            return
        tool = sys.monitoring
        tool.use_tool_id(tool.PROFILER_ID, "record")
        tool.register_callback(tool.PROFILER_ID, tool.events.PY_START, self.on_start)
        tool.set_events(tool.PROFILER_ID, tool.events.PY_START)

    def stop(self):
        if sys.version_info < (3, 12):
            threading.setprofile(None)
            sys.setprofile(None)
        else:
            sys.monitoring.set_events(sys.monitoring.PROFILER_ID, 0)

    def on_event(self, frame, event, _):
        if event == "call":
            self.add(frame.f_code)

    def on_start(self, code, _):
        self.add(code)
        return sys.monitoring.DISABLE


def run_child(write_end, is_session, modules):
    """Run the example in this process, and write the record of it to a pipe."""
    source = sys.stdin.buffer.read().decode("utf-8", "replace")
    sys.stdin = open(os.devnull)
    sys.argv = ["example.py"]
    sys.path[0] = os.getcwd()
    record = {"errors": [], "executed": [], "folders": []}
    main = type(sys)("__main__")
    main.__dict__["__file__"] = "example.py"
    sys.modules["__main__"] = main
    keep_source(source)
    recorder = None
    try:
        tree = compile(source, EXAMPLE, "exec", ast.PyCF_ONLY_AST)
        for statement in ast.walk(tree):  # some import in a function
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                import_quietly(statement)
        record["folders"] = find_folders(modules)
        recorder = Recorder(record["folders"])
        recorder.start()
        run_statements(tree, main.__dict__, is_session, record["errors"])
    except SystemExit as error:
        if error.code not in (None, 0):
            record["errors"].append(describe(error))
    except BaseException as error:  # whatever the example raises is the answer
        record["errors"].append(describe(error))
    if recorder:
        recorder.stop()
    record["executed"] = [list(one) for one in sorted(recorder.seen)] if recorder else []
    with suppress(Exception):  # the example may have closed or replaced it
        sys.stdout.flush()
    data = json.dumps(record).encode()
    while len(data) > MAX_RECORD_BYTES and record["executed"]:
        record["executed"] = record["executed"][: len(record["executed"]) // 2]
        data = json.dumps(record).encode()
    os.write(write_end, data[:MAX_RECORD_BYTES])
    os.close(write_end)
    os._exit(1 if record["errors"] else 0)


def import_quietly(statement):
    """The functions that run on import are not those that the example calls. Its own import raises the error."""
    module = ast.parse("")
    module.body = [statement]
    with suppress(BaseException):  # its own import raises the error
        exec(compile(module, "<imports>", "exec"), {"__name__": "imports"})


def find_folders(modules):
    folders = []
    for name in modules:
        module = sys.modules.get(name)
        path = getattr(module, "__file__", None)
        if path:
            is_package = hasattr(module, "__path__")
            folders.append(os.path.dirname(os.path.abspath(path)) if is_package else os.path.abspath(path))
    return folders


def run_statements(tree, names, is_session, errors):
    # Each statement is compiled alone, and none may lose what `from __future__` says for all.
    futures = [one for one in tree.body if isinstance(one, ast.ImportFrom) and one.module == "__future__"]
    text = None if is_session else ast.get_docstring(tree, clean=False)
    names["__doc__"] = text
    for statement in tree.body[0 if text is None else 1 :]:
        # As a prompt does: the value of an expression is shown.
        code = compile(ast.Interactive(body=[*futures, statement]), EXAMPLE, "single", dont_inherit=True)
        try:
            exec(code, names)
        except Exception as error:  # a prompt goes on after an error
            if not is_session or len(errors) >= MAX_ERRORS:
                raise
            errors.append(describe(error))


def keep_source(source):
    """Tools such as inspect find the lines of the example."""
    import linecache

    linecache.cache[EXAMPLE] = (len(source), None, source.splitlines(True), EXAMPLE)


def describe(error):
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == own_file():
        trace = trace.tb_next
    frames = [[frame.filename[:500], frame.lineno or 0, frame.name[:200]] for frame in traceback.extract_tb(trace)]
    causes, cause = [], error
    while cause is not None and len(causes) < 10:
        causes.append(type(cause).__name__)
        cause = cause.__cause__ or cause.__context__
    try:
        message = str(error)
    except Exception:  # the error's own code may fail
        message = ""
    return {
        "type": type(error).__name__,
        "message": message[:MAX_MESSAGE_CHARS],
        "frames": frames[-MAX_FRAMES:],
        "causes": causes,
    }


if __name__ == "__main__":
    if sys.argv[1] == "--child":
        run_child(int(sys.argv[2]), sys.argv[3] == "1", sys.argv[4:])
    else:
        run_parent(float(sys.argv[1]), sys.argv[2:])
