"""A small repository in several languages."""

FILES = {
    "src/shop/settings.py": (
        "import os\n\n"
        "MAX_RETRIES = 3\n"
        "TIMEOUT: float = 2.5\n"
        "HOOKS = {\n    'before': [],\n    'after': [],\n}\n"
        "LOGGING = dict(\n    level='info',\n    retries=MAX_RETRIES,\n)\n"
    ),
    "src/shop/store.py": (
        "from shop.settings import MAX_RETRIES\n\n\n"
        "class Store:\n"
        '    """Holds items. Call save(items) for each."""\n\n'
        "    retries = MAX_RETRIES\n"
        "    owner: str\n\n"
        "    def __init__(self, path, limit=None):\n"
        "        self.limit = limit\n"
        "        self.path, self._dirty = path, False\n"
        "        count = 0\n\n"
        "    def save(self, items):\n"
        "        # save(items) is slow\n"
        "        return self.flush(items)\n\n"
        "    def flush(self, items):\n"
        "        if not items:\n"
        "            raise ValueError('No items for store %s' % self.path)\n"
        "        return items\n"
    ),
    "src/shop/cart.py": (
        "from shop.store import Store\n\n\n"
        "class Cart(Store):\n"
        "    def pay(self, store, items):\n"
        "        on_exit(store.save)\n"
        "        return store.save(items)\n"
    ),
    "web/options.ts": (
        "export const DEFAULT_DEPTH = 4;\n"
        "export const limits: Record<string, number> = {\n  depth: DEFAULT_DEPTH,\n  width: 80,\n};\n"
        "export enum Mode {\n  Fast = 'fast',\n  Slow = 'slow',\n}\n"
        "interface Options {\n  indent?: number;\n}\n"
        "export class Printer {\n  static readonly EOL = '\\n';\n  print(mode: Mode) { return render(mode); }\n}\n"
        "export function render(mode: Mode) { return mode; }\n"
    ),
    "crates/core/src/lib.rs": (
        "pub const MAX_DEPTH: usize = 16;\n"
        'static GREETING: &str = "hello";\n'
        "pub(crate) static COUNT: AtomicUsize = AtomicUsize::new(0);\n"
        "pub enum Shape {\n    Circle(f64),\n    Square { side: f64 },\n    Empty,\n}\n"
        "pub struct Config {\n    pub depth: usize,\n}\n"
        "pub fn area(shape: &Shape) -> f64 {\n    let depth = MAX_DEPTH;\n    check!(depth);\n    measure::<f64>(shape)\n}\n"
        "fn measure<T>(shape: &Shape) -> T {\n    todo!()\n}\n"
    ),
    "server/main.go": (
        "package main\n\n"
        "const DefaultPort = 8080\n\n"
        'var ErrClosed = errors.New("server closed")\n\n'
        "const (\n\tStateIdle State = iota\n\tStateBusy\n)\n\n"
        'type Server struct {\n\tTimeout time.Duration `json:"timeout"`\n}\n\n'
        "func (s *Server) Run() error {\n\tport := DefaultPort\n\treturn listen(port)\n}\n"
    ),
    "native/codec.cpp": (
        "#define MAX_FRAME \\\n    4096\n"
        "static const int kTable[] = {\n    1, 2,\n    3,\n};\n"
        "enum class Color {\n    Red,\n    Green = 2,\n};\n"
        "struct Frame {\n    int length;\n};\n"
        "int decode(Frame* frame);\n"
        "/* decode() reads\n * a frame */\n"
        "int decode(Frame* frame) {\n    if (frame->length > MAX_FRAME) return fail(frame);\n    return kTable[0];\n}\n"
    ),
    "config/app.toml": "max_retries = 5\n[cache]\nfolder = 'x'\n",
    "tests/test_store.py": (
        "from shop.store import Store\n\n\n"
        "def test_save():\n    assert Store('x').save([1]) == [1]\n    MAX_RETRIES = 1\n"
    ),
    "docs/guide.md": "Set `MAX_RETRIES = 9`. Then call store.save(items).\n",
}
