import threading
import time

from tests.running import scripted


class Counting(scripted.Scripted):
    """How many questions it was asked at once."""

    now = most = 0

    def carry_out(self, on_event, question):
        self.now += 1
        self.most = max(self.most, self.now)
        time.sleep(0.001)
        answer = super().carry_out(on_event, question)
        self.now -= 1
        return answer


def test_threads_ask_one_after_the_other_and_the_history_has_their_order():
    net = scripted.Network(scripted.PLAIN, engine=Counting())
    asked = len(net.engine.questions)

    def act(host):
        for number in range(5):
            net.run(host, f"true {number}", echo=False)
            net.sleep(number + (host == "h2") / 2)  # two in a row would be one line

    threads = [threading.Thread(target=act, args=(host,)) for host in ("h1", "h2")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    done = [
        f"run {what['host']} {what['command']}"
        if op == "start"
        else f"sh sleep {float(what['seconds']):g}"
        for op, what in net.engine.questions[asked:]
        if op != "wait"
    ]
    assert net.engine.most == 1 and done == str(net.history).splitlines()
