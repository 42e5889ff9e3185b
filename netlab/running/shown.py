"""What a notebook shows of a network: its picture, its time, and what runs."""

from html import escape


def running(net):
    """What runs: node, command, where."""
    found = [(job.host, job.command, "in the background") for job in net.jobs]
    if net.up:
        typed = [console.busy for console in net.consoles.values() if console.busy]
        found += [(line.host, line.line, "on its terminal") for line in typed]
    return found


def as_html(net):
    """The picture of a network, and below it what is up and what runs."""
    engine = f"{net.engine.name} {net.engine.digest or ''}".strip()
    about = f"{net.clock:.3f} s on the {net.clock_kind} clock; engine {engine}, seed {net.seed}."
    rows = [
        f"<li>{escape(node)}: <code>{escape(command)}</code>, {where}</li>"
        for node, command, where in running(net)
    ]
    runs = f"Running:<ul>{''.join(rows)}</ul>" if rows else "Nothing runs."
    state = f"<b>Up</b>, {about} {runs}" if net.up else f"<b>Closed</b>, at {about}"
    return f"<div>{net.topology._repr_html_()}<div>{state}</div></div>"
