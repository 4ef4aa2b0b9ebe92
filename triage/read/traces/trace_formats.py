"""The formats of stack traces: what a frame looks like, the order of frames, and where the error is stated."""

import re
from math import inf

from triage.read.traces.trace_frames import (
    DIAGNOSTICS,
    GO_CALL,
    GO_LOCATION,
    LISP_ERROR,
    MODULES,
    NAME,
    PANIC,
    RAISED_NAME,
    TraceFormat,
    error_around,
    error_by_any,
    error_near,
    find_dotnet_frame,
    find_jvm_frame,
    find_lisp_frame,
    find_native_frame,
    find_notebook_frame,
    find_python_frame,
    find_rust_frame,
    find_rust_panic,
    find_script_frame,
    frame_below_call,
    frame_by_pattern,
)

_ERROR = rf"(?P<exception>{RAISED_NAME}|{NAME}(?<=\w)(?=: ))(?:: ?(?P<message>.*)|\s*$)"

_NATIVE_ERROR = error_near(
    r".{0,60}?(?:ERROR: (?P<exception>[A-Z]\w{1,30}Sanitizer): |received signal (?=SIG)|Assertion |"
    r"stop reason = |==\d{1,9}== (?=Invalid |Conditional |Use of ))(?P<message>.*)",
    above=12,
)

TRACE_FORMATS: tuple[TraceFormat, ...] = (
    TraceFormat(
        "python",
        ('File "',),
        find_python_frame,
        error_near(rf"(?:[\s|]{{0,40}}|E\s{{1,8}})(?!File \"){_ERROR}", below=6),
        gap=5,
        starts=re.compile(r"Traceback \(most recent call last\)"),
        ends=re.compile(rf"^[\s|]{{0,8}}{RAISED_NAME}(?::|\s*$)"),
    ),
    TraceFormat(
        "python",
        (" in ", "In [", "In["),
        find_notebook_frame,
        error_near(rf"(?!-){_ERROR}", below=24),
        gap=22,
        starts=re.compile(r"Traceback \(most recent call last\)"),
        ends=re.compile(rf"^{RAISED_NAME}:"),
    ),
    TraceFormat(
        "python",
        (".py:",),
        frame_by_pattern(
            r"\s*[│|] (?P<path>[^\s│].{0,300}?\.py):(?P<line>\d{1,7}) in (?P<function>[\w<>.]{1,200})\s{1,200}[│|]\s*$"
        ),
        error_near(_ERROR, below=60),
        gap=60,
    ),
    TraceFormat(
        "python",
        (".py:",),
        frame_by_pattern(
            r"(?P<path>[^\s:]{1,300}\.py):(?P<line>\d{1,7}): ?"
            rf"(?:in (?P<function>[^\s]{{1,200}})\s*$|(?P<exception>{RAISED_NAME})\s*$|\s*$)"
        ),
        error_around(
            rf"E {{1,8}}(?P<exception>{RAISED_NAME})(?:: ?(?P<message>.*)|\s*$)",
            r"E {1,8}(?P<message>\S.*)",
            above=60,
        ),
        gap=60,
        starts=re.compile(r"^_{3,} .{1,200} _{3,}$"),
        ends=re.compile(rf"\.py:\d{{1,7}}: {RAISED_NAME}\s*$"),
    ),
    TraceFormat(
        "java",
        (".java", ".kt", ".scala", ".groovy", ".clj"),
        find_jvm_frame,
        error_near(
            r"\s*(?:Exception in thread \"[^\"]{0,200}\" |Caused by: |Suppressed: |Wrapped by: |Fatal Exception: |"
            r".{0,120}?[\s:])??"
            r"(?P<exception>[\w.$]{0,200}(?:Exception|Error|Throwable|Failure)\w{0,20})(?:: "
            r"?(?P<message>.*)|\s*$)",
            above=4,
        ),
        innermost_first=True,
        starts=re.compile(r"^\s*(?:Caused by|Suppressed|Exception in thread|Wrapped by)\b"),
    ),
    TraceFormat(
        "csharp",
        ("at ", ".cs:", ".vb:", ".fs:"),
        find_dotnet_frame,
        error_near(
            r"(?:.{0,400} ---> )?(?:\S.{0,80}?[\s:|])?"
            r"(?:Unhandled [Ee]xception[.:] ?|---> ?)?(?P<exception>[A-Z][\w.`]{1,200}Exception)"
            r"(?: \(0x\w+\))?(?:: ?(?P<message>.*)|\s*$)",
            above=12,
        ),
        innermost_first=True,
        gap=12,
        min_frames=2,
        starts=re.compile(r"^\s*(?:Unhandled [Ee]xception|[\w.]+Exception: )"),
    ),
    TraceFormat(
        "rust",
        (".rs:", "::"),
        find_rust_frame,
        find_rust_panic,
        innermost_first=True,
        gap=4,
        min_frames=2,
    ),
    TraceFormat("rust", ("panicked at",), frame_by_pattern(PANIC), find_rust_panic, single=True),
    TraceFormat(
        "javascript",
        ("at ",),
        find_script_frame,
        error_near(
            r"\s*[`\"']?(?:[\w./-]{1,100}:\d{1,7}(?::\d{1,7})? |error: |ERROR {1,2}|Caused by: |"
            r"\[cause\]: |(?:\(node:\d{1,7}\) )?UnhandledPromiseRejectionWarning: )?"
            r"(?:Uncaught |[Uu]nhandled [Rr]ejection:? |\[?Unhandled promise rejection[^:]{0,40}: ?|\(in promise\) |"
            r"(?:Unhandled|Uncaught) [Ee]xception: {1,4}){0,3}"
            rf"(?P<exception>{NAME}(?:Error|Exception|Warning|Rejection|Violation)|Error)"
            r"(?: \[[\w-]{1,80}\])?(?:: ?(?P<message>.*)|\s*$)",
            above=8,
        ),
        innermost_first=True,
        starts=re.compile(rf"^\s*(?:Uncaught |Caused by: |\[cause\]: )?{RAISED_NAME}: "),
    ),
    TraceFormat(
        "javascript",
        ("@",),
        frame_by_pattern(
            r"\s*(?P<function>[\w.$<>/*]{0,200})@(?P<path>[a-z-]{2,20}:/{2,3}[^\s]{1,400}?):(?P<line>\d{1,7})(?::\d{1,7})?\s*$"
        ),
        error_near(rf"\s*(?:Uncaught )?(?P<exception>{RAISED_NAME}): ?(?P<message>.*)", above=4),
        innermost_first=True,
    ),
    TraceFormat(
        "go",
        (".go:",),
        frame_below_call(GO_LOCATION, GO_CALL),
        error_by_any(
            error_near(
                r"\s*(?:.{0,60}?panic(?: serving \S{1,60})?|fatal error|WARNING(?=: DATA RACE)): (?P<message>.*)",
                above=14,
            ),
            error_near(r"\s*(?P<exception>\*\w[\w.]{1,100}) (?P<message>\S.*)", above=1),
        ),
        innermost_first=True,
        gap=3,
        starts=re.compile(r"^\s*goroutine \d+ \["),
    ),
    TraceFormat(
        "ruby",
        (":in ",),
        frame_by_pattern(
            r"\s*(?:from |\d{1,4}: from |\[?\d{1,4}\]? |(?P<gem>[\w-]{1,80}) \((?P<version>\d[\w.]{0,40})\) )?"
            r"(?P<path>[^\s:]{1,400}):(?P<line>\d{1,7}):in [`'‘](?P<function>[^'’]{1,200})['’]"
            r"(?:: (?P<message>.{0,600}) \((?P<exception>[A-Z][\w:]{1,120})\))?"
        ),
        error_by_any(
            *(
                error_near(
                    rf"\s*(?P<exception>[A-Z][\w:]{{1,120}}(?:Error|Exception|NotFound|Invalid)){message}:?\s*$",
                    above=4,
                )
                for message in (r": ?(?P<message>.*?)(?: \((?P=exception)\))?", r" \((?P<message>.*?)\)")
            ),
            error_near(r"\s{1,8}(?P<message>\S.{0,600}) \((?P<exception>[A-Z][\w:]{1,120})\)\s*$", below=3),
        ),
        innermost_first=True,
    ),
    TraceFormat(
        "julia",
        ("] ",),
        frame_by_pattern(
            r"\s*\[\d{1,4}\] (?P<function>[^\s(]{1,200})[^\n]{0,600}?(?:\n\s*@ (?:\w{1,80} )?| at )"
            r"(?P<path>[^\s\[\]]{1,300}\.jl):(?P<line>\d{1,7})",
            height=2,
        ),
        error_near(
            rf"\s*ERROR: (?:(?:Load|Init)Error: )?(?:(?P<exception>{RAISED_NAME}): )?(?P<message>\S.*)", above=12
        ),
        innermost_first=True,
        min_frames=2,
        starts=re.compile(r"^\s*(?:ERROR: |Stacktrace:)"),
    ),
    TraceFormat(
        "julia",
        (" at ",),
        frame_by_pattern(
            r"(?P<function>[^\s(]{1,200})(?:\([^\n]{0,300}\))? at (?P<path>[^\s\[\]]{1,300}\.jl):(?P<line>\d{1,7})"
            r"(?: \[inlined\])?\s*$"
        ),
        error_near(r"\s*(?:\[\d{1,9}\] )?signal \(\d{1,3}(?:\.\d{1,3})?\): (?P<message>\S.*)", above=12),
        innermost_first=True,
        min_frames=inf,
    ),
    TraceFormat(
        "lisp",
        ("(",),
        find_lisp_frame,
        error_near(rf".{{0,60}}{re.escape(LISP_ERROR)}(?P<exception>[\w-]{{1,80}}) ?(?P<message>.*)\)", above=50),
        innermost_first=True,
        gap=6,
        starts=re.compile(re.escape(LISP_ERROR)),
    ),
    TraceFormat(
        "perl",
        (" line ",),
        frame_by_pattern(
            # Prose says "at lib/A.pm line 3" too: in Perl's own words, or with what was being read.
            r"\s*(?P<message>(?:Can't|Use of|Undefined|Not an?|Global symbol|Argument|Attempt to|Died) ?"
            r".{0,600}?|\S.{0,600}?(?= at \S{1,300} line \d{1,7}, <))"
            r"(?<! called) at (?P<path>[^\s'\"()]{1,300}\.(?:pm|pl|PL|t|cgi|psgi)) line (?P<line>\d{1,7})"
            r"(?:, <\S{1,40}> (?:line|chunk) \d{1,9})?\.?\s*$"
        ),
        single=True,
    ),
    TraceFormat(
        "lua",
        (".lua:",),
        frame_by_pattern(
            r".{0,160}?(?P<path>(?:\.\.\.)?[^\s:'\"`()\[\]]{1,300}\.lua):(?P<line>\d{1,7}): "
            r"(?:in (?:(?:local|upvalue|method|field|global|function|main chunk) ?){1,3}"
            r"(?:['‘](?P<function>[^'’]{1,200})['’]|<.{0,300})?\s*$|(?P<message>(?!in )\S.{0,300}))"
        ),
        innermost_first=True,
        gap=3,
    ),
    TraceFormat(
        "php",
        ("#",),
        frame_by_pattern(
            r"\s*#\d{1,4} (?P<path>[^()\n]{1,400}\.\w{2,6})\((?P<line>\d{1,7})\): (?P<function>[^(]{1,300})"
        ),
        error_by_any(
            error_near(
                r".{0,600}?\[object\] \((?P<exception>[\w\\]{1,200})\(code: \d{1,9}\): (?P<message>.{0,600}?) at "
                r"(?P<path>\S{1,300}?\.php):(?P<line>\d{1,7})\)",
                above=5,
            ),
            error_near(
                r".{0,80}?(?:Uncaught (?:exception ')?)?(?P<exception>[\w\\]{1,200}(?:Exception|Error)\w{0,20})'?"
                r"(?: with message '|: )(?P<message>.{0,600}?)'?(?: in (?P<path>\S{1,300}?\.php)[: ](?:on line "
                r")?(?P<line>\d{1,7}))?\s*$",
                above=5,
            ),
        ),
        innermost_first=True,
    ),
    TraceFormat(
        "php",
        (" on line ",),
        frame_by_pattern(
            r".{0,120}?(?P<exception>(?:Catchable |Recoverable )?[Ff]atal [Ee]rror|Parse [Ee]rror|Warning|Notice|"
            r"Deprecated|FATAL ERROR|PARSE ERROR|WARNING|NOTICE|DEPRECATED): {1,4}"
            r"(?P<message>.{1,600}?)(?:, called in \S{1,300} on line \d{1,7} and defined)? in "
            r"(?P<path>.{1,300}?\.(?:php|phtml|inc))(?: on line |:)(?P<line>\d{1,7})"
        ),
        single=True,
    ),
    TraceFormat(
        "php",
        (".php:",),
        frame_by_pattern(
            r"\s*at (?P<path>[^\s:]{1,400}\.php) ?: ?(?P<line>\d{1,7})\s*\n(?:.{0,300}\n){0,8}?"
            r"\s*[➜>]\s*(?P=line)\s*[▕|:](?P<code>.*)",
            r"\s*\d{1,3} {2,4}(?P<path>[^\s:]{1,400}\.php):(?P<line>\d{1,7})\s*\n\s+(?P<function>[^\s(]{1,200})\(",
            height=10,
        ),
        error_near(r"\s{1,8}(?P<message>\S.{0,600})", above=2),
        innermost_first=True,
        gap=16,
        min_frames=2,
    ),
    TraceFormat(
        "php",
        (".php:",),
        frame_by_pattern(r"(?P<path>(?:[A-Za-z]:)?[/\\][^\s:]{1,400}\.php):(?P<line>\d{1,7})\s*$"),
        error_near(r"(?P<exception>[\w\\]{0,200}(?:Exception|Error)\w{0,20}): (?P<message>\S.{0,600})", above=5),
        innermost_first=True,
        min_frames=inf,
    ),
    TraceFormat(
        "c",
        ("#", " 0x"),
        find_native_frame,
        _NATIVE_ERROR,
        innermost_first=True,
        starts=re.compile(r"==\d+==ERROR"),
    ),
    TraceFormat(
        "c",
        ("#", "[0x"),
        frame_by_pattern(*MODULES),
        error_by_any(_NATIVE_ERROR, error_near(r"(?P<message>\S.{0,80}? (?:aborting|crashed)\b.*)", above=4)),
        innermost_first=True,
        starts=re.compile(r"==\d+==ERROR"),
        min_frames=2,
    ),
    TraceFormat(
        "elixir",
        (".ex",),
        frame_by_pattern(
            r"\s*(?:\(\w{1,60}(?: [\w.+-]{1,30})?\) )?(?P<path>[^\s:()]{1,300}\.exs?):(?P<line>\d{1,7}): "
            r"(?P<function>[A-Z:(][^\s(]{1,200}(?:/\d+.{0,40}|\(.{0,300}\)))$"
        ),
        error_near(r"\s*\*\* \((?P<exception>[\w.]{1,120})\) ?(?P<message>.*)", above=3),
        innermost_first=True,
    ),
    TraceFormat(
        "shell",
        (".sh: ", ".bash: ", ".zsh: ", ".zsh:", ".ksh: ", ".bats: "),
        frame_by_pattern(
            r".{0,40}?(?P<path>[^\s:]{1,300}\.(?:(?:ba|z|k)?sh|bats)):(?: (?:line )?)?(?P<line>\d{1,6}): "
            r"(?P<message>\S.{0,300})"
        ),
        single=True,
    ),
    TraceFormat(
        "powershell",
        (" char:", ": line "),
        frame_by_pattern(
            r"\s*(?:At |at (?P<function>[^\s,]{1,200}), )(?P<path>(?:[A-Za-z]:)?[^:\n]{1,300}\.psm?1)"
            r"(?:: line |:)(?P<line>\d{1,6})(?: char:\d{1,5})?\s*$"
        ),
        error_near(r"\s*(?P<message>[^\s+].*[^\s:])\s*$", above=1),
        innermost_first=True,
        gap=6,
    ),
    TraceFormat(
        "diagnostic",
        ("-->",),
        frame_by_pattern(r"\s*--> (?P<path>(?:[A-Za-z]:)?[^\s:]{1,400}\.\w{1,8}):(?P<line>\d{1,7}):\d{1,7}\s*$"),
        error_near(r"\s*(?P<exception>error(?:\[E\d{4}\])?|warning): (?P<message>.*)", above=3),
        single=True,
    ),
    TraceFormat("diagnostic", (":", "("), frame_by_pattern(*DIAGNOSTICS), single=True),
)
