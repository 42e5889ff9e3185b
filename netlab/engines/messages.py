"""What is asked over a channel, and what is answered, as types; docs/protocol.md says what each
means. Whoever answers a question has a method of its name, as `do_start`, with its fields.
"""

from typing import Literal, NamedTuple, NotRequired, TypedDict, get_type_hints


class Question(NamedTuple):
    """The types of a question's fields, and of its answer's."""

    fields: type
    answer: type


class Empty(TypedDict):
    """Nothing."""


class Carried(TypedDict):
    """What every answer of an agent has."""

    clock_ns: int
    error: NotRequired[str]
    unrepeatable: NotRequired[str]


class Up(TypedDict):
    hosts: list[tuple[str, str | None]]
    switches: list[str]
    links: list[tuple[str, str]]
    setup: list[tuple[str, str]]


class IsUp(Carried):
    failed: NotRequired[tuple[str, str, str]]


class Start(TypedDict):
    host: str
    command: str
    echo: NotRequired[bool]


class Started(Carried):
    job: int


class Wait(TypedDict):
    numbers: list[int]
    limit_s: float | str


class Slept(Carried):
    ended_by: Literal["", "limit", "interrupt"]


class Ended(Slept):
    status: list[int | None]


class Type(TypedDict):
    number: int
    text: str
    until: str
    limit_s: float | str
    leave: NotRequired[bool]


class Typed(Ended):
    after_s: float
    untyped: int


class Stop(TypedDict):
    number: int


class Sleep(TypedDict):
    seconds: float | str


class Watch(TypedDict):
    watches: dict[str, tuple[str, str, float]]


class Watching(TypedDict):
    kept: bool


class Watched(TypedDict):
    began_ns: int


class Texts(TypedDict):
    texts: dict[str, str]


class Algorithms(TypedDict):
    algorithms: list[dict]
    seed: int


class Key(TypedDict):
    key: Literal["I", "K"]


class Hello(TypedDict):
    protocol: int
    netlab: str
    jailed: NotRequired[bool]


class Greeting(TypedDict):
    name: str
    digest: str
    about: dict
    clocks: list[str]
    at_once: int


class Connect(TypedDict):
    seed: int
    clock: str
    limit_s: float


class Program(TypedDict):
    program: str
    arguments: list[str]
    files: dict[str, str]


class Talk(TypedDict):
    to: int
    packets: list[str]


# "from" is a word of Python's
Said = TypedDict("Said", {"from": int, "packet": str, "ended": int, "said": str}, total=False)


class Output(TypedDict):
    job: int
    out: str


class Tick(TypedDict):
    tick: int


class Waiting(TypedDict):
    waiting: int


class Printed(TypedDict):
    printed: str


#: What may come before an answer: the first two from agents, the others from servers.
EVENTS = Output, Tick, Waiting, Printed
SHAPES = [get_type_hints(one) for one in EVENTS]
#: By who answers: the agent; our end of a guest's channel; a server; the warden of a jail.
AGENT = {
    "up": Question(Up, IsUp),
    "start": Question(Start, Started),
    "wait": Question(Wait, Ended),
    "type": Question(Type, Typed),
    "stop": Question(Stop, Ended),
    "sleep": Question(Sleep, Slept),
    "end_all": Question(Empty, Carried),
}
OUR_END = {
    "watch": Question(Watch, Watching),
    "watched": Question(Watched, Texts),
    "algorithms": Question(Algorithms, Empty),
    "key": Question(Key, Empty),
}
SERVER = {
    "hello": Question(Hello, Greeting),
    "connect": Question(Connect, Empty),
    "close": Question(Empty, Empty),
}
WARDEN = {"start": Question(Program, Empty), "talk": Question(Talk, Said)}


def lacks(op, answer):
    """The fields that an answer to the question `op` lacks; an agent's that has an ``error`` may
    have that alone.
    """
    kind = Carried if "error" in answer else (AGENT | OUR_END | SERVER)[op].answer
    return kind.__required_keys__ - answer.keys()


def is_event(message):
    """Is it one of `EVENTS`?"""
    return any(
        shape.keys() == message.keys()
        and all(isinstance(message[name], kind) for name, kind in shape.items())
        for shape in SHAPES
    )
