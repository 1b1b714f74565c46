"""nginx on the loopback interface, its access log, and the feeds that it serves."""

import email.utils
import os
import re
import socket
import subprocess
import time
from html import escape

from narrator import NotProven
from processes import wait_until

CONFIGURATION = """\
daemon off;
master_process off;
pid {root}/pid;
error_log {root}/error.log;
events {{}}
http {{
    default_type application/rss+xml;
    log_format demo '$msec $request_method $uri $status $bytes_sent '
                    '"$request_completion" "$http_user_agent"';
    access_log {root}/access.log demo;
    client_body_temp_path {root}/body;
    proxy_temp_path {root}/proxy;
    fastcgi_temp_path {root}/fastcgi;
    uwsgi_temp_path {root}/uwsgi;
    scgi_temp_path {root}/scgi;
    server {{
        listen 127.0.0.1:{port};
        root {root}/feeds;
        # A server that never gets done: so many bytes a second.
        location = /glacier.xml {{ limit_rate 50; }}
        location /charts/ {{ limit_rate 8m; }}
    }}
}}
"""


class Request:
    """A line of the access log."""

    _PATTERN = re.compile(r'(\S+) (\S+) (\S+) (\d+) (\d+) "(.*?)" "(.*?)"$')

    def __init__(self, line):
        found = self._PATTERN.match(line)
        self.line = line
        self.time = float(found[1])
        self.path = found[3]
        self.status = int(found[4])
        self.bytes = int(found[5])
        self.is_complete = found[6] == "OK"
        self.agent = found[7]


class WebServer:
    def __init__(self, root):
        self.root = root
        self.port = None
        self._process = None
        os.makedirs(f"{root}/feeds")

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self):
        return self._process.pid

    def start(self):
        """On a port that is free, the same one when it is started again."""
        for _ in range(5):
            self.port = self.port or self._free_port()
            if self._try():
                return
            self.port = None
        raise NotProven(f"nginx does not start: {self._tail('error.log')}")

    def _try(self):
        path = f"{self.root}/nginx.conf"
        with open(path, "w", encoding="utf-8") as file:
            file.write(CONFIGURATION.format(root=self.root, port=self.port))
        self._process = subprocess.Popen(
            ["nginx", "-e", f"{self.root}/error.log", "-p", self.root, "-c", path],
            env={"PATH": os.environ.get("PATH", "") + ":/usr/sbin:/sbin"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        wait_until(lambda: self._process.poll() is not None or self._answers(), "nginx answers")
        return self._process.poll() is None

    def stop(self):
        if self._process and self._process.poll() is None:
            self._process.terminate()
            self._process.wait()

    def requests(self, after=0, by="newsboat"):
        """What a program asked for, from its request of that number on."""
        with open(f"{self.root}/access.log", encoding="utf-8") as file:
            lines = [line.rstrip("\n") for line in file if line.endswith("\n")]
        found = [Request(line) for line in lines]
        return [request for request in found if request.agent.startswith(by)][after:]

    def count(self, by="newsboat"):
        return len(self.requests(by=by))

    def _answers(self):
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", self.port)) == 0

    @staticmethod
    def _free_port():
        with socket.socket() as trial:
            trial.bind(("127.0.0.1", 0))
            return trial.getsockname()[1]

    def _tail(self, name):
        try:
            with open(f"{self.root}/{name}", encoding="utf-8") as file:
                return file.read()[-500:]
        except OSError as error:
            return str(error)


class Feed:
    """An RSS feed in a file that nginx serves."""

    def __init__(self, server, name, title):
        self._server, self.name, self.title = server, name, title
        self.articles = []

    @property
    def path(self):
        return f"/{self.name}.xml"

    @property
    def url(self):
        return self._server.address + self.path

    @property
    def file(self):
        return f"{self._server.root}/feeds{self.path}"

    def publish(self, headline, text="Nothing more is known yet."):
        self.articles.insert(0, (headline, text, time.time()))
        items = "".join(
            f"<item><title>{escape(title)}</title><guid>{self.name}-{escape(title)}</guid>"
            f"<link>{self.url}</link><pubDate>{email.utils.formatdate(at)}</pubDate>"
            f"<description>{escape(text)}</description></item>\n"
            for title, text, at in self.articles
        )
        with open(self.file + ".new", "w", encoding="utf-8") as file:
            file.write(
                '<?xml version="1.0" encoding="utf-8"?>\n<rss version="2.0"><channel>\n'
                f"<title>{escape(self.title)}</title><link>{self.url}</link>"
                f"<description>A feed of the demo.</description>\n{items}</channel></rss>\n"
            )
        os.rename(self.file + ".new", self.file)
