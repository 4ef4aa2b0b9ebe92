"""Stack traces of many languages: frames from the outermost call to the failing line."""

from testing.cost_growth import assert_grows_linearly, repeat_to
from testing.each_row import each_row
from triage.domain.issue import Issue
from triage.read.read_issue import read_issue
from triage.read.traces.traces import find_traces

# text, language, exception, message, frames as path:line function
CASES = {
    "python": (
        ('Traceback (most recent call last):\n  File "/srv/shop/cli.py", line 3, in main\n    run()\n'
        '  File "C:\\shop\\cart.py", line 9, in total\n    return sum(x)\n           ^^^^^^\nshop.errors.Empty: no items: []\n'),
        "python", "shop.errors.Empty", "no items: []", ["/srv/shop/cli.py:3 main", "C:/shop/cart.py:9 total"],
    ),
    "python, pasted without its indentation": (
        'Traceback (most recent call last):\nFile "/a/b.py", line 3, in\nrun()\nFile "/a/c.py", line 9, in run\nraise ValueError("x")\nValueError: x\n',
        "python", "ValueError", "x", ["/a/b.py:3 -", "/a/c.py:9 run"],
    ),
    "python, recursion": (
        ('Traceback (most recent call last):\n  File "a.py", line 2, in f\n    f()\n  File "a.py", line 2, in f\n    f()\n'
        "  [Previous line repeated 996 more times]\nRecursionError: maximum recursion depth exceeded\n"),
        "python", "RecursionError", "maximum recursion depth exceeded", ["a.py:2 f", "a.py:2 f"],
    ),
    "pytest": (
        "tests/test_cart.py:5: \n_ _ _ _ _ _\nshop/cart.py:9: in total\n    return sum(x)\nE   TypeError: not iterable\n",
        "python", "TypeError", "not iterable", ["tests/test_cart.py:5 -", "shop/cart.py:9 total"],
    ),
    "pytest, assertion": (
        "    def test_x():\n>       assert f() == 2\nE       assert 1 == 2\n\ntests/test_x.py:5: AssertionError\n",
        "python", "AssertionError", "assert 1 == 2", ["tests/test_x.py:5 -"],
    ),
    "ipython": (
        ("---------------------------------------------------------------------------\nValueError        Traceback (most recent call last)\n"
        "<ipython-input-3-abc> in <module>\n      1 import x\n----> 2 x.f()\n\n~/shop/cart.py in f(self, a)\n     10 \n---> 11     g()\n\nValueError: nope\n"),
        "python", "ValueError", "nope", ["<ipython-input-3-abc>:2 <module>", "~/shop/cart.py:11 f"],
    ),
    "ipython 8": (
        "Cell In[1], line 1\n----> 1 f()\n\nFile ~/shop/cart.py:11, in total(self)\n      9 x\n---> 11 g()\n\nKeyError: 'a'\n",
        "python", "KeyError", "'a'", ["Cell In[1]:1 -", "~/shop/cart.py:11 total"],
    ),
    "ipython, one cell": (
        "ValueError                                Traceback (most recent call last)\nCell In[7], line 3\n      1 import x\n----> 3 f()\n\nValueError: nope\n",
        "python", "ValueError", "nope", ["Cell In[7]:3 -"],
    ),
    "colab": (
        ("IndexError                                Traceback (most recent call last)\n[<ipython-input-18-d4c8>](https://localhost:8080/#) in <module>\n     19 \n---> 21 seq.fit(X, y)\n\n4 frames\n"
        "[/usr/local/lib/shop/cart.py](https://localhost:8080/#) in fit(self, X)\n    210 \n--> 211     go(X)\n\nIndexError: list index out of range\n"),
        "python", "IndexError", "list index out of range", ["<ipython-input-18-d4c8>:21 <module>", "/usr/local/lib/shop/cart.py:211 fit"],
    ),
    "pytest, its own error": (
        'INTERNALERROR> Traceback (most recent call last):\nINTERNALERROR>   File "/srv/main.py", line 191, in wrap\nINTERNALERROR>     run()\nINTERNALERROR> ValueError: no session\n',
        "python", "ValueError", "no session", ["/srv/main.py:191 wrap"],
    ),
    "python, in a log": (
        '2022-06-09T13:38:24.824Z Traceback (most recent call last):\n2022-06-09T13:38:24.824Z   File "/srv/run.py", line 197, in check\n2022-06-09T13:38:24.825Z     go()\n2022-06-09T13:38:24.825Z KeyError: 3\n',
        "python", "KeyError", "3", ["/srv/run.py:197 check"],
    ),
    "python, on 80 columns": (
        'Traceback (most recent call last):\n  File "D:\\Local\\demo.py", li\nne 41, in <module>\n    f()\n  File "D:\\Local\\segmentation\\inference.py", line\n123, in f\n    g()\nValueError: x\n',
        "python", "ValueError", "x", ["D:/Local/demo.py:41 <module>", "D:/Local/segmentation/inference.py:123 f"],
    ),
    "node": (
        ("TypeError: Cannot read properties of undefined (reading 'id')\n    at total (/srv/shop/cart.js:12:3)\n    at async Shop.run [as go] (file:///srv/shop/shop.mjs:4:5)\n"
        "    at new Till (C:\\shop\\till.ts:7:1)\n    at Object.<anonymous> (webpack:///./src/App.tsx:1:20)\n    at node:internal/main:5:3\n"),
        "javascript", "TypeError", "Cannot read properties of undefined (reading 'id')",
        ["node:internal/main:5 -", "webpack:///./src/App.tsx:1 Object.<anonymous>", "C:/shop/till.ts:7 new Till", "srv/shop/shop.mjs:4 Shop.run", "/srv/shop/cart.js:12 total"],
    ),
    "node with code": (
        "Error [ERR_MODULE_NOT_FOUND]: no such module\n    at f (a.js:1:2)\n",
        "javascript", "Error", "no such module", ["a.js:1 f"],
    ),
    "firefox": (
        "Uncaught ReferenceError: x is not defined\ntotal@http://localhost:3000/cart.js:3:4\n@http://localhost:3000/main.js:9:1\n",
        "javascript", "ReferenceError", "x is not defined", ["http://localhost:3000/main.js:9 -", "http://localhost:3000/cart.js:3 total"],
    ),
    "java": (
        'Exception in thread "main" java.lang.IllegalStateException: no cart\n\tat org.shop.Cart.add(Cart.java:12)\n\tat java.base/jdk.internal.X.y(X.java)\n\tat org.shop.Main.main(Main.kt:3)\n',
        "java", "java.lang.IllegalStateException", "no cart", ["org/shop/Main.kt:3 org.shop.Main.main", "jdk/internal/X.java:- jdk.internal.X.y", "org/shop/Cart.java:12 org.shop.Cart.add"],
    ),
    "maven": (
        ("[ERROR] java.lang.NullPointerException: no artifact\n[ERROR]     at org.shop.maven.Project.getJarArtifact (Project.java:545)\n"
        "[ERROR]     at org.shop.maven.Build$Step.run (Build.java:21)\n[ERROR]     at jdk.internal.reflect.DirectMethodHandleAccessor.invoke (DirectMethodHandleAccessor.java:103)\n"),
        "java", "java.lang.NullPointerException", "no artifact",
        ["jdk/internal/reflect/DirectMethodHandleAccessor.java:103 jdk.internal.reflect.DirectMethodHandleAccessor.invoke",
         "org/shop/maven/Build.java:21 org.shop.maven.Build$Step.run", "org/shop/maven/Project.java:545 org.shop.maven.Project.getJarArtifact"],
    ),
    "java without at": (
        "java.lang.IllegalArgumentException: no model\norg.shop.Model.init(Model.java:110)\norg.shop.Main.main(Main.java:7)\n",
        "java", "java.lang.IllegalArgumentException", "no model", ["org/shop/Main.java:7 org.shop.Main.main", "org/shop/Model.java:110 org.shop.Model.init"],
    ),
    "crashlytics": ("Fatal Exception: java.lang.IllegalStateException: no cart\n       at shop.Cart$total$1.invoke(Cart.java:40)\n", "java", "java.lang.IllegalStateException", "no cart", ["shop/Cart.java:40 shop.Cart$total$1.invoke"]),
    "android": (
        "E/AndroidRuntime(21937): java.lang.IllegalStateException: no view\nE/AndroidRuntime(21937): \tat org.shop.Main.onCreate(Main.kt:12)\n",
        "java", "java.lang.IllegalStateException", "no view", ["org/shop/Main.kt:12 org.shop.Main.onCreate"],
    ),
    "go": (
        "panic: runtime error: index out of range [3] with length 2\n\ngoroutine 1 [running]:\nmain.(*Store).Get(0xc000, 0x3)\n\t/src/shop/store.go:42 +0x1d\nmain.main()\n\t/src/shop/main.go:9 +0x2a\nexit status 2\n",
        "go", None, "runtime error: index out of range [3] with length 2", ["/src/shop/main.go:9 main.main", "/src/shop/store.go:42 main.(*Store).Get"],
    ),
    "go, fatal": (
        "fatal error: all goroutines are asleep\n\ngoroutine 1 [running]:\nmain.(*Store).Get(0xc000, 0x3)\n\t/src/shop/store.go:42 +0x1d fp=0x7ffc01 sp=0x7ffc00 pc=0x43\nmain.main()\n\t/src/shop/main.go:9 +0x2a\n",
        "go", None, "all goroutines are asleep", ["/src/shop/main.go:9 main.main", "/src/shop/store.go:42 main.(*Store).Get"],
    ),
    "go errors": (
        "*fs.PathError open ..: operation not permitted\n/home/run/shop/shop/store.go:13 (0x14b693e)\ngithub.com/acme/shop/main.go:23 (0x16ddb98)\n",
        "go", "*fs.PathError", "open ..: operation not permitted", ["github.com/acme/shop/main.go:23 -", "/home/run/shop/shop/store.go:13 -"],
    ),
    "go race": (
        "WARNING: DATA RACE\nWrite at 0x00c0 by goroutine 8:\n  main.add()\n      /src/m.go:12 +0x4\n",
        "go", None, "DATA RACE", ["/src/m.go:12 main.add"],
    ),
    "rust": (
        ("thread 'main' panicked at src/parse.rs:88:21:\ncalled `Option::unwrap()` on a `None` value\nstack backtrace:\n   0: rust_begin_unwind\n             at /rustc/abc/panicking.rs:645:5\n"
        "   1: shop::parse\n             at ./src/parse.rs:88:21\n   2: shop::main\n             at ./src/main.rs:5:5\n"),
        "rust", None, "called `Option::unwrap()` on a `None` value",
        ["./src/main.rs:5 shop::main", "./src/parse.rs:88 shop::parse", "/rustc/abc/panicking.rs:645 rust_begin_unwind", "src/parse.rs:88 -"],
    ),
    "rust without a backtrace": ("thread 'main' panicked at 'boom', src/x.rs:1:2\n", "rust", None, "boom", ["src/x.rs:1 -"]),
    "rustc": ("error[E0308]: mismatched types\n --> src/x.rs:3:4\n  |\n", "diagnostic", "error[E0308]", "mismatched types", ["src/x.rs:3 -"]),
    "c sharp": (
        ("Unhandled exception. System.InvalidOperationException: Sequence contains no elements\n   at System.Linq.Enumerable.First()\n   at Shop.Cart.Total(List`1 items) in C:\\src\\Cart.cs:line 21\n"
        "   at Shop.Program.Main(String[] args) in /src/Program.cs:line 5\n"),
        "csharp", "System.InvalidOperationException", "Sequence contains no elements",
        ["/src/Program.cs:5 Shop.Program.Main(String[] args)", "C:/src/Cart.cs:21 Shop.Cart.Total(List`1 items)"],
    ),
    "ruby": (
        "app/cart.rb:12:in `total': undefined method `+' for nil:NilClass (NoMethodError)\n\tfrom app/cart.rb:9:in `each'\n\tfrom bin/run:3:in '<main>'\n",
        "ruby", "NoMethodError", "undefined method `+' for nil:NilClass", ["bin/run:3 <main>", "app/cart.rb:9 each", "app/cart.rb:12 total"],
    ),
    "php": (
        "PHP Fatal error:  Uncaught RuntimeException: no cart in /srv/Cart.php:12\nStack trace:\n#0 /srv/Shop.php(33): Shop\\Cart->total()\n#1 /srv/index.php(3): run()\n#2 {main}\n",
        "php", "RuntimeException", "no cart", ["/srv/index.php:3 -", "/srv/Shop.php:33 run", "/srv/Cart.php:12 Shop\\Cart->total"],
    ),
    "php, calls that are not shown": (
        "PHP Fatal error:  Uncaught RuntimeException: no cart in /srv/Cart.php:12\nStack trace:\n#0 [internal function]: Shop\\Cart->total()\n#1 /srv/Shop.php(33): array_map()\n#2 /srv/index.php(3): require_once()\n#3 {main}\n",
        "php", "RuntimeException", "no cart", ["/srv/index.php:3 -", "/srv/Shop.php:33 -", "/srv/Cart.php:12 -"],
    ),
    "php warning": ("PHP Warning:  Undefined variable $x in /srv/a.php on line 9\n", "php", "Warning", "Undefined variable $x", ["/srv/a.php:9 -"]),
    "php, a log of laravel": ("[2025-09-12 10:00:01] local.WARNING: $x is null in /srv/vendor/acme/shop/src/Cart.php on line 50 \n", "php", "WARNING", "$x is null", ["/srv/vendor/acme/shop/src/Cart.php:50 -"]),
    "php, a console of laravel": (
        ("   ParseError\n\n  no cart, but a till\n\n  at app/Cart.php:12\n     11▕     {\n  ➜  12▕         return $this->items();\n     13▕     }\n\n      +2 vendor frames\n"
        "  3   app/Shop.php:33\n      Shop\\Cart::total()\n\n  4   [internal]:0\n      run()\n"),
        "php", None, "no cart, but a till", ["app/Shop.php:33 -", "app/Cart.php:12 -"],
    ),
    "julia, a signal": (
        "signal (7): Bus error\nin expression starting at ...\n== at ./promotion.jl:410 [inlined]\ntotal at ~/.julia/packages/Shop/YUbbG/src/cart.jl:9 [inlined]\npay(::Cart) at /srv/pay.jl:5\n",
        "julia", None, "Bus error", ["/srv/pay.jl:5 pay", "~/.julia/packages/Shop/YUbbG/src/cart.jl:9 total", "./promotion.jl:410 =="],
    ),
    "julia": (
        ("ERROR: LoadError: MethodError: no method matching total(::Cart)\nClosest candidates are:\n  total(::Any, ::Any)\n   @ Shop ~/.julia/packages/Shop/HaV3Q/src/Shop.jl:9\nStacktrace:\n"
        "  [1] pay(cart::Cart; by::Symbol)\n    @ Shop ~/.julia/packages/Shop/HaV3Q/src/pay.jl:55 [inlined]\n  [2] top-level scope\n    @ REPL[19]:1\n"),
        "julia", "MethodError", "no method matching total(::Cart)", ["~/.julia/packages/Shop/HaV3Q/src/pay.jl:55 pay"],
    ),
    "julia, older": (
        "ERROR: no cart\nStacktrace:\n [1] error(::String) at ./error.jl:33\n [2] pay(::Cart) at /home/me/src/pay.jl:5\n",
        "julia", None, "no cart", ["/home/me/src/pay.jl:5 pay", "./error.jl:33 error"],
    ),
    "helm": (
        'Error: UPGRADE FAILED: template: shop/templates/cart.yaml:4:2: executing "shop/templates/cart.yaml" at <include "shop.name" .>: error calling include: template: shop/templates/_names.tpl:9:12: executing "shop.name" at <.Values.x.y>: nil pointer\n',
        "diagnostic", None, 'executing "shop.name" at <.Values.x.y>: nil pointer', ["shop/templates/_names.tpl:9 -"],
    ),
    "gdb": (
        "Program received signal SIGSEGV, Segmentation fault.\n#0  0x0000555 in list_pop (l=0x0) at src/list.c:44\n#1  main () at src/main.c:8\n",
        "c", None, "SIGSEGV, Segmentation fault.", ["src/main.c:8 main", "src/list.c:44 list_pop"],
    ),
    "gdb, locations on their own lines": (
        "#0  0x00005555 in operator() (self=...)\n    at rpc/output.cpp:276\n#1  std::__invoke_impl<bool, f()::<lambda()> > (__f=...)\n    at /usr/include/c++/12/bits/invoke.h:61\n",
        "c", None, None, ["/usr/include/c++/12/bits/invoke.h:61 std::__invoke_impl<bool, f()::<lambda()> >", "rpc/output.cpp:276 operator()"],
    ),
    "address sanitizer": (
        "==12==ERROR: AddressSanitizer: heap-use-after-free on address 0x6\nREAD of size 4 at 0x6 thread T0\n    #0 0x4a in list_pop /src/list.c:44:9\n    #1 0x4b in main /src/main.c:8\n",
        "c", "AddressSanitizer", "heap-use-after-free on address 0x6", ["/src/main.c:8 main", "/src/list.c:44 list_pop"],
    ),
    "notebook in an editor": (
        ("TypeError          Traceback (most recent call last)\nFile [~/shop/cart.py:174](https://file+.editor.net/home/ann/shop/~/shop/cart.py:174), in total(a, b)\n"
        "    [172](file:///home/ann/x) x\n--> [174](file:///home/ann/x) y\n\nTypeError: no items\n"),
        "python", "TypeError", "no items", ["~/shop/cart.py:174 total"],
    ),
    "python, in a log of a build": (
        ' 0:01.61 Traceback (most recent call last):\n 0:01.61   File "/srv/run.py", line 171, in check\n 0:01.61     go()\n 0:01.61 KeyError: 3\n',
        "python", "KeyError", "3", ["/srv/run.py:171 check"],
    ),
    "python, its files taken for tags": (
        'Traceback (most recent call last):\n  File "", line 1, in\n  File "", line 9, in\nAttributeError: no total\n',
        "python", "AttributeError", "no total", ["<unknown>:1 -", "<unknown>:9 -"],
    ),
    "c, a program's own": (
        "Please include the following backtrace:\nhtop(CRT_handleSIGSEGV+0x44)[0x556a60a2b4]\n/lib/libc.so.6(fclose+0x8) [0x7f9b2b8280]\nhtop(+0xe150)[0x556a5f3150]\n",
        "c", None, None, ["htop:- -", "/lib/libc.so.6:- fclose", "htop:- CRT_handleSIGSEGV"],
    ),
    "core dump without sources": (
        "Stack trace of thread 1:\n#0  0x00007f5d0354fe74 cart_total (cart.so)\n#1  0x00007f5d03570baf in main () from /lib/shop.so.6\n#2 0x01 in run(void*) (/lib/libc.so.1+0x43b47)\n",
        "c", None, None, ["/lib/libc.so.1:- run(void*)", "/lib/shop.so.6:- main", "cart.so:- cart_total"],
    ),
    "lldb": (
        "* thread #1, stop reason = EXC_BAD_ACCESS (code=1)\n  * frame #0: 0x01 shop`cart_total(self=0x0) at cart.c:12:5\n    frame #1: 0x02 shop`main at main.c:3\n",
        "c", None, "EXC_BAD_ACCESS (code=1)", ["main.c:3 main", "cart.c:12 cart_total(self=0x0)"],
    ),
    "valgrind": (
        "==12== Invalid read of size 4\n==12==    at 0x4005: total (cart.c:12)\n==12==    by 0x4006: main (main.c:3)\n",
        "c", None, "Invalid read of size 4", ["main.c:3 main", "cart.c:12 total"],
    ),
    "crash report of macos": ("0   Shop  0x0001 Cart.total() + 123 (Cart.swift:12)\n1   Shop 0x0002 main + 2 (main.swift:3)\n", "c", None, None, ["main.swift:3 main", "Cart.swift:12 Cart.total()"]),
    "c sharp, without places": (
        "System.NullReferenceException: not set.\n   at Shop.Cart.Total(Object sender, Int32 count)\n   at Shop.Pages.<RunAsync>d__5.MoveNext()\n   at System.Threading.Run(Object o)\n",
        "csharp", "System.NullReferenceException", "not set.", ["Pages.cs:- Shop.Pages.<RunAsync>d__5.MoveNext()", "Cart.cs:- Shop.Cart.Total(Object sender, Int32 count)"],
    ),
    "mono, in logcat": (
        ("12-08 16:58:07.347 I/Mono(20572): System.Exception: bad\n12-08 16:58:07.348 I/Mono(20572):   at Shop.Cart.Total (System.Int32 a) [0x00054] in <6a3d>:0\n"
        "12-08 16:58:07.348 I/Mono(20572):   at Shop.Main.Run () [0x00002] in /src/Main.cs:12\n"),
        "csharp", "System.Exception", "bad", ["/src/Main.cs:12 Shop.Main.Run ()", "Cart.cs:- Shop.Cart.Total (System.Int32 a)"],
    ),
    "rich": (
        "╭──── Traceback (most recent call last) ────╮\n│ /srv/shop/cart.py:12 in total             │\n│ ❱ 12     x()                              │\n╰───────────────────────────────────────────╯\nValueError: bad\n",
        "python", "ValueError", "bad", ["/srv/shop/cart.py:12 total"],
    ),
    "node, unhandled": ("Unhandled exception:  Error: listen EADDRINUSE\n    at listen (net.js:1494:7)\n", "javascript", "Error", "listen EADDRINUSE", ["net.js:1494 listen"]),
    "node, rejection": ("Unhandled rejection DatabaseError: bad\n    at Query.run (/srv/query.js:10:5)\n", "javascript", "DatabaseError", "bad", ["/srv/query.js:10 Query.run"]),
    "console of a browser": ("app.js:153 Uncaught TypeError: no total\n    at Cart.total (cart.ts:12)\n", "javascript", "TypeError", "no total", ["cart.ts:12 Cart.total"]),
    "a bundle without an extension": ("TypeError: no total\n    at Proxy.render (__ssr_bundle__:1605:48)\n", "javascript", "TypeError", "no total", ["__ssr_bundle__:1605 Proxy.render"]),
    "node, warning of a rejection": ("(node:7) UnhandledPromiseRejectionWarning: CartError: late\n    at total (/srv/cart.js:121:29)\n", "javascript", "CartError", "late", ["/srv/cart.js:121 total"]),
    "quoted in a mail": ("> Error: no model\n>     at Cart.total (/srv/cart.js:85:15)\n", "javascript", "Error", "no model", ["/srv/cart.js:85 Cart.total"]),
    "rust on windows": ("thread 'main' panicked at C:\\shop\\cart.rs:551:51:\nno items\nnote: run with\n", "rust", None, "no items", ["C:/shop/cart.rs:551 -"]),
    "ruby, error named twice": ("NoMethodError: undefined method 'size' for nil (NoMethodError)\n    from app/cart.rb:12:in 'total'\n", "ruby", "NoMethodError", "undefined method 'size' for nil", ["app/cart.rb:12 total"]),
    "ruby, message below": ("lib/cart.rb:43:in `block in <class:Cart>':\n  Missing price: total (Shop::Errors::Config)\n", "ruby", "Shop::Errors::Config", "Missing price: total", ["lib/cart.rb:43 block in <class:Cart>"]),
    "ruby, gems": (
        "NoMethodError: no size\n> till (1.2.3) lib/till/cart.rb:18:in `total'\nshop (0.1) app/cart.rb:3:in `show'\n",
        "ruby", "NoMethodError", "no size", ["gems/shop-0.1/app/cart.rb:3 show", "gems/till-1.2.3/lib/till/cart.rb:18 total"],
    ),
    "php, phpunit": (
        "1) Shop\\CartTest::testTotal\nError: no price\n\n/srv/src/Cart.php:12\n/srv/tests/CartTest.php:8\n",
        "php", "Error", "no price", ["/srv/tests/CartTest.php:8 -", "/srv/src/Cart.php:12 -"],
    ),
    "php, laravel": (
        '[2022-01-01] local.ERROR: no x {"exception":"[object] (ErrorException(code: 0): no x at /srv/a.php:12)\n[stacktrace]\n#0 /srv/b.php(12): Cart->total()\n',
        "php", "ErrorException", "no x", ["/srv/b.php:12 -", "/srv/a.php:12 Cart->total"],
    ),
    "go server": (
        "2021/01/01 10:00:00 http: panic serving 127.0.0.1:5: boom\ngoroutine 7 [running]:\nmain.total(0x1)\n\t/src/cart.go:3 +0x4\n",
        "go", None, "boom", ["/src/cart.go:3 main.total"],
    ),
    "elixir with arguments": ("** (FunctionClauseError) no clause\n    (shop 0.1.0) lib/shop.ex:12: Shop.total(nil)\n", "elixir", "FunctionClauseError", "no clause", ["lib/shop.ex:12 Shop.total(nil)"]),
    "elixir without versions": (
        "** (RuntimeError) oops\n    (shop) lib/cart.ex:5: Cart.total/1\n    (see also the) lib/till.ex:7: Till.pay/1\n",
        "elixir", "RuntimeError", "oops", ["lib/cart.ex:5 Cart.total/1"],
    ),
    "undefined behaviour": ("src/a.c:9:3: runtime error: signed integer overflow: 1 + 2\n", "diagnostic", None, "runtime error: signed integer overflow: 1 + 2", ["src/a.c:9 -"]),
    "elixir": ("** (RuntimeError) oops\n    (shop 0.1.0) lib/cart.ex:5: Cart.total/1\n", "elixir", "RuntimeError", "oops", ["lib/cart.ex:5 Cart.total/1"]),
    "gcc": ("src/a.c:3:4: error: expected ';' before 'x'\n", "diagnostic", None, "error: expected ';' before 'x'", ["src/a.c:3 -"]),
    "tsc": ("src/x.ts(3,4): error TS2322: Type 'a' is not assignable\n", "diagnostic", None, "error TS2322: Type 'a' is not assignable", ["src/x.ts:3 -"]),
    "tsc, pretty": ("src/x.ts:3:4 - error TS2322: no\n", "diagnostic", None, "error TS2322: no", ["src/x.ts:3 -"]),
    "python warning": ("/srv/x.py:4: DeprecationWarning: old\n", "diagnostic", "DeprecationWarning", "old", ["/srv/x.py:4 -"]),
    "swift": ("Shop/Cart.swift:12: Fatal error: Unexpectedly found nil\n", "diagnostic", None, "Fatal error: Unexpectedly found nil", ["Shop/Cart.swift:12 -"]),
    "c#, top-level statements": (
        "System.InvalidOperationException: no\n   at Program.<Main>$(String[] args) in /src/server/Program.cs:line 2\n",
        "csharp", "System.InvalidOperationException", "no", ["/src/server/Program.cs:2 Program.<Main>$(String[] args)"],
    ),
    "c#, the cause on the same line": (
        "Unhandled exception. System.Exception: outer ---> System.NullReferenceException: inner\n   at Shop.Store.Size(String s) in /src/Store.cs:line 4\n",
        "csharp", "System.NullReferenceException", "inner", ["/src/Store.cs:4 Shop.Store.Size(String s)"],
    ),
    "bash": ("./scripts/install.sh: line 3: foo: command not found\n", "shell", None, "foo: command not found", ["./scripts/install.sh:3 -"]),
    "dash": ("scripts/x.sh: 12: foo: not found\n", "shell", None, "foo: not found", ["scripts/x.sh:12 -"]),
    "zsh": ("setup.zsh:7: command not found: foo\n", "shell", None, "command not found: foo", ["setup.zsh:7 -"]),
    "powershell": (
        "foo : The term 'foo' is not recognized\nAt C:\\tools\\Install-Shop.ps1:3 char:1\n",
        "powershell", None, "foo : The term 'foo' is not recognized", ["C:/tools/Install-Shop.ps1:3 -"],
    ),
    "powershell, its stack": (
        "at Install-Shop, C:\\tools\\a.ps1: line 3\nat <ScriptBlock>, C:\\tools\\b.ps1: line 9\n",
        "powershell", None, None, ["C:/tools/b.ps1:9 <ScriptBlock>", "C:/tools/a.ps1:3 Install-Shop"],
    ),
    "rust, without debugging information": (
        ("thread 'main' panicked at 'no items', library/alloc/src/vec.rs:518:5\nstack backtrace:\n   0: rust_begin_unwind\n             at /rustc/69f9/library/std/src/panicking.rs:575:5\n"
        "   1: <&mut till::de::Reader<R,O> as serde::de::Reader>::read_string\n   2: shop::cart::load_items\n"),
        "rust", None, "no items", ["<unknown>:- shop::cart::load_items", "<unknown>:- <&mut till::de::Reader<R,O> as serde::de::Reader>::read_string", "/rustc/69f9/library/std/src/panicking.rs:575 rust_begin_unwind", "library/alloc/src/vec.rs:518 -"],
    ),
    "rust, one frame": ("thread 'main' panicked at 'no', src/lib.rs:3:1\n   0: shop::total\n             at src/cart.rs:5:5\n", "rust", None, "no", ["src/cart.rs:5 shop::total", "src/lib.rs:3 -"]),
    "perl": ("I wonder about the division at lib/Shop/Cart.pm line 10.\nno till at /opt/shop-master/lib/Shop/Cart.pm line 56, <STDIN> line 1.\n\tShop::pay() called at shop.pl line 3\n", "perl", None, "no till", ["/opt/shop-master/lib/Shop/Cart.pm:56 -"]),
    "lua": ("Failed: ...zy/shop.nvim/lua/shop/cart.lua:56: bad argument #2 to 'sum'\n", "lua", None, "bad argument #2 to 'sum'", ["...zy/shop.nvim/lua/shop/cart.lua:56 -"]),
    "sentry": (
        'KeyError: no\n  File "lib/cart.ex", line 6, in Cart.total/2\n    sum(x)\n  File "lib/shop.ex", line 9, in Shop.pay/1\n    total(y)\n(3 additional frame(s) were not displayed)\n',
        "python", None, None, ["lib/shop.ex:9 Shop.pay/1", "lib/cart.ex:6 Cart.total/2"],
    ),
    "lua, called": (
        "Error executing lua ...shop/cart.lua:12: attempt to call field 'sum' (a nil value)\nstack traceback:\n\t[C]: in function 'error'\n\t...shop/cart.lua:12: in function 'total'\n\t...shop/init.lua:3: in main chunk\n",
        "lua", None, "attempt to call field 'sum' (a nil value)", ["...shop/init.lua:3 -", "...shop/cart.lua:12 total"],
    ),
    "maven, its compiler": ("[ERROR] /home/me/src/Cart.java:[12,5] cannot find symbol\n", "diagnostic", None, "cannot find symbol", ["/home/me/src/Cart.java:12 -"]),
    "kotlin": ("e: file:///home/me/src/Cart.kt:12:5 Unresolved reference: total\n", "diagnostic", None, "Unresolved reference: total", ["/home/me/src/Cart.kt:12 -"]),
    "kotlin, older": ("e: /home/me/src/Cart.kt: (12, 5): Unresolved reference: total\n", "diagnostic", None, "Unresolved reference: total", ["/home/me/src/Cart.kt:12 -"]),
    "haskell, by stack": ("till       > src/Cart.hs:91:18: error:\ntill       >     * Variable not in scope: sum\n", "diagnostic", None, "error:\n    * Variable not in scope: sum", ["src/Cart.hs:91 -"]),
    "rust, of a package on Windows": ("error: expected a literal\n  --> F:\\.cargo\\registry\\src\\github.com-1\\coin-0.8.7\\build/main.rs:104:9\n", "diagnostic", "error", "expected a literal", ["F:/.cargo/registry/src/github.com-1/coin-0.8.7/build/main.rs:104 -"]),
    "php, an argument": (
        "PHP message: Fatal error: Uncaught TypeError: Till::open(): Argument #2 must be of type Coin, null given, called in /w/hook.php on line 324 and defined in /w/till/src/Till.php:29\n",
        "php", "Fatal error", "Uncaught TypeError: Till::open(): Argument #2 must be of type Coin, null given", ["/w/till/src/Till.php:29 -"],
    ),
    "c, by the program's own handler": (
        "shop 2.2.0 aborting.\nBacktrace:\nshop(handle+0x44)[0xaa60c]\nlinux-vdso.so.1(__kernel_rt_sigreturn+0x0)[0xff7a8]\nshop(+0x12e14)[0xaae14]\nshop(Cart_draw+0x104)[0xaadec]\n",
        "c", None, "shop 2.2.0 aborting.", ["shop:- Cart_draw", "shop:- -"],
    ),
    "c#, of a system in German": (
        "System.InvalidOperationException: leer\n   bei Shop.Cart.Total(Int32 count) in C:\\My Shop\\Cart.cs:Zeile 12.\n   bei Shop.Main.Run() in C:\\My Shop\\Main.cs:Zeile 3.\n",
        "csharp", "System.InvalidOperationException", "leer", ["C:/My Shop/Main.cs:3 Shop.Main.Run()", "C:/My Shop/Cart.cs:12 Shop.Cart.Total(Int32 count)"],
    ),
    "emacs": (
        "Debugger entered--Lisp error: (void-function nope)\n  nope(1)\n  till-open(nil)\n",
        "lisp", "void-function", "nope", ["<unknown>:- till-open", "<unknown>:- nope"],
    ),
    "c#, types of types": (
        "System.InvalidOperationException: no\n   at Shop.Cart`1[[Shop.Item, Shop, Version=1.0.0.0, Key=null]].Total()\n",
        "csharp", "System.InvalidOperationException", "no", ["Cart.cs:- Shop.Cart`1[[Shop.Item, Shop, Version=1.0.0.0, Key=null]].Total()"],
    ),
    "linter": ("shop/x.py:12:0: E1101: no member\n", "diagnostic", None, "E1101: no member", ["shop/x.py:12 -"]),
}  # fmt: skip


@each_row("case", CASES)
def test_a_trace_is_read(case: str) -> None:
    text, language, exception, message, frames = CASES[case]
    found = find_traces(f"It stops here:\n{text}and that is all.")
    assert len(found) == 1
    assert 1 <= found[0].start < found[0].end <= text.count("\n") + 1
    assert found[0].error_line in text
    trace = found[0].trace
    assert (trace.language, trace.exception, trace.message) == (language, exception, message)
    assert [f"{frame.path}:{frame.line or '-'} {frame.function or '-'}" for frame in trace.frames] == frames


PYTHON_CHAIN = (
    'Traceback (most recent call last):\n  File "/x/a.py", line 1, in f\n    g(1)\nKeyError: 1\n\n{}\n\n'
    'Traceback (most recent call last):\n  File "/x/b.py", line 2, in h\n    raise Empty()\nshop.EmptyError: y\n'
)
"""Two errors, and what Python writes between them."""
IPYTHON_CHAIN = (
    "KeyError                                  Traceback (most recent call last)\n"
    "File ~/lib/shop/a.py:12, in f(self)\n     11     x\n---> 12     g(1)\n\nKeyError: 1\n\n"
    "The above exception was the direct cause of the following exception:\n\n"
    "EmptyError                                Traceback (most recent call last)\nCell In[1], line 1\n----> 1 f()\n\n"
    "    [... skipping hidden 1 frame]\n\nFile ~/lib/shop/b.py:20, in h(x)\n     19     y\n---> 20     raise Empty()\n\n"
    "EmptyError: y\n"
)


@each_row(
    ("text", "errors", "wrapper"),
    [
        (PYTHON_CHAIN.format("The above exception was the direct cause of the following exception:"), ["KeyError", "shop.EmptyError"], 1),
        (PYTHON_CHAIN.format("During handling of the above exception, another exception occurred:"), ["KeyError", "shop.EmptyError"], 0),
        (PYTHON_CHAIN.format("and later"), ["KeyError", "shop.EmptyError"], None),
        (IPYTHON_CHAIN, ["KeyError", "EmptyError"], 1),
        ("x.StateException: a\n\tat a.Api.load(Api.java:7)\nCaused by: x.NullException: b\n\tat a.Store.size(Store.java:4)\n",
         ["x.StateException", "x.NullException"], 0),
        ("x.NullException: b\n\tat a.Store.size(Store.java:4)\nWrapped by: x.StateException: a\n\tat a.Api.load(Api.java:7)\n",
         ["x.NullException", "x.StateException"], 1),
        ("Error: outer\n    at f (/a/x.js:1:2) {\n  [cause]: TypeError: inner\n      at g (/a/y.js:3:4)\n}\n", ["Error", "TypeError"], 0),
        ("A::ViewError (bad):\napp/a.rb:3:in `show'\n\nCaused by:\nKeyError (no key)\napp/b.rb:4:in `find'\n", ["A::ViewError", "KeyError"], 0),
    ],
)  # fmt: skip
def test_of_a_chain_the_one_where_the_failure_began_is_known(text: str, errors: list[str], wrapper: int | None):
    traces = [found.trace for found in find_traces(text)]
    assert [trace.exception for trace in traces] == errors
    assert [number for number, trace in enumerate(traces) if trace.is_wrapper] == ([] if wrapper is None else [wrapper])


@each_row(
    ("text", "code"),
    [
        (PYTHON_CHAIN.format("and"), "g(1)"),
        (IPYTHON_CHAIN, "g(1)"),
        ('Traceback (most recent call last):\n  File "/x/a.py", line 1, in f\nKeyError: 1\n', None),
        ("│ /x/shop/a.py:12 in f                  │\n│   11 │   x = 1     │\n│ ❱ 12 │   g(1)      │\n╰──╯\nKeyError: 1\n", "g(1)"),
        ("shop/cart.py:9: in total\n    g(1)\nE   TypeError: not iterable\n", "g(1)"),
    ],
)  # fmt: skip
def test_the_line_that_a_frame_shows_is_read(text: str, code: str | None):
    assert find_traces(text)[0].trace.frames[0].code == code


def test_chained_exceptions_are_one_trace_each() -> None:
    text = (
        "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    x\nKeyError: 'k'\n\n"
        "During handling of the above exception, another exception occurred:\n\n"
        'Traceback (most recent call last):\n  File "b.py", line 2, in g\n    y\nshop.Missing: no k\n'
    )
    assert [(found.trace.exception, found.trace.frames[-1].path) for found in find_traces(text)] == [
        ("KeyError", "a.py"),
        ("shop.Missing", "b.py"),
    ]


def test_an_exception_group_is_read_with_its_members() -> None:
    text = (
        "  + Exception Group Traceback (most recent call last):\n"
        '  |   File "a.py", line 1, in <module>\n  |     f()\n  | ExceptionGroup: many (2 sub-exceptions)\n'
        "  +-+---------------- 1 ----------------\n    | Traceback (most recent call last):\n"
        '    |   File "b.py", line 2, in g\n    |     h()\n    | TypeError: no\n    +------------------------------------\n'
    )
    assert [found.trace.exception for found in find_traces(text)] == ["ExceptionGroup", "TypeError"]


def test_a_java_cause_is_a_separate_trace() -> None:
    text = "a.B: outer\n\tat a.B.c(B.java:1)\nCaused by: java.lang.NullPointerException\n\tat a.P.of(P.java:7)\n\t... 3 more\n"
    assert [(found.trace.exception, found.trace.frames[-1].path) for found in find_traces(text)][-1] == (
        "java.lang.NullPointerException",
        "a/P.java",
    )


def test_very_deep_traces_keep_their_ends() -> None:
    frames = "".join(f'  File "a{n}.py", line {n + 1}, in f\n    f()\n' for n in range(500))
    trace = find_traces(f"Traceback (most recent call last):\n{frames}ValueError: x\n")[0].trace
    assert len(trace.frames) == 100
    assert (trace.frames[0].path, trace.frames[-1].path) == ("a0.py", "a499.py")


@each_row(
    "text",
    [
        "",
        "We looked at the file, line by line.",
        "At 12:30 it stopped; look at (this) thing.",
        "See src/cart.py:12 for the place.",
        "The ratio is 3:4:5 and a.b: c",
        "#1 is the first issue, #2 the second",
        "key: value\nother: 12\n",
        "    at src/list.cpp:44",
        "It fails\n\n    at src/Cart.php:44\n\n> look",
        "1.  first\n2   src/Cart.php:44\n\n    it (the cart)",
        "Fails at src/cart.jl:44",
        "look at src/cart.jl:44\nlook at src/till.jl:9",
        "WARNING: total is deprecated\n in depwarn at deprecated.jl:73\n in total at src/total.jl:3",
        "ERROR: no cart\n\nlook at src/cart.jl:44\nwrong in total at src/till.jl:9",
        "see Shop.Cart.Total() in src/Cart.cs:12\nsee Shop.Till.Open() in src/Till.cs:9",
        "Error: no cart\nThese have it:\nsrc/Cart.php:12\n- /srv/Till.php:9",
        "I get an Error: no cart in these:\n\n/srv/Cart.php:12\n/srv/Till.php:9",
        "we look at Cart (Cart.java, line 12)",
        'Select File "a.txt", line by line.',
        "at the shop (see page:12)",
        "it fails\nat cart.total()\nsometimes",
        "at Array.map (<anonymous>)\nat native.thing (Unknown Source)",
        "1: std::sort\nis faster",
        "'x': not a number (see below)",
        "warning: the value in settings.php on line 12 is ignored",
        "Warning: the value in settings.py on line 12 is ignored",
        "See the template: shop/templates/base.html:12:3: error in a block",
        "See the template: shop/templates/mail.txt:12:3: it should use a block",
    ],
)
def test_prose_is_not_a_trace(text: str) -> None:
    assert find_traces(text) == []


@each_row("case", CASES)
def test_the_cost_of_incomplete_traces_is_linear(case: str) -> None:
    text = CASES[case][0]
    shapes = [
        text,
        text.replace("\n", " "),
        text.replace("\n", "   "),
        *(line[: len(line) * part // 4] + "\n" for line in text.splitlines() for part in (2, 4)),
    ]

    def find(text: str) -> None:
        assert len(find_traces(text)) <= 20

    for shape in shapes:
        assert_grows_linearly(repeat_to(shape), find, 16_384)


def test_a_message_that_ends_in_a_colon_goes_on_in_the_next_line():
    error = (
        "InconsistentAxisTypesError: ERROR 4 in wcs_types() at line 2486 of file C/wcs.c:\nUnmatched celestial axes."
    )
    trace = f'Traceback (most recent call last):\n  File "a/wcs.py", line 1355, in sub\n    self.sub([1])\n{error}\n'
    (found,) = read_issue(Issue(title="It fails", body=f"```\n{trace}```\n")).traces
    assert found.message == error.partition(": ")[2]


def test_the_reporters_own_words_are_no_message():
    trace = 'Traceback (most recent call last):\n  File "a/b.py", line 1, in sub\n    self.sub([1])\nValueError: bad input:\n'
    (found,) = read_issue(Issue(title="It fails", body=f"{trace}I would expect that it works.\n")).traces
    assert found.message == "bad input:"
