# Receives webhooks: verifies each delivery, handles it once, and answers. Python 3.9 and later, no packages.
#
# The URL of the webhook: https://example.com/hooks/formloom
# Start: WEBHOOK_SECRET=whsec_... PORT=8080 python3 receiver.py
# It serves plain HTTP. Put it behind a proxy that terminates TLS for this URL.

import base64
import binascii
import hashlib
import hmac
import json
import os
import re
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

EVENTS = ["submission.created", "submission.updated", "submission.deleted"]
SECRET = os.environ.get("WEBHOOK_SECRET", "")
SEEN = os.environ.get("SEEN_DIR", "seen")

# --- verification -----------------------------------------------------------


# raw_body: the received bytes, before they are parsed.
# header: request.headers.get("X-Service-Signature")
def is_from_formloom(raw_body, header, secret):
    digest = hmac.new(secret.encode(), raw_body, hashlib.sha256).hexdigest()
    return hmac.compare_digest((header or "").encode(), f"sha256={digest}".encode())


# The same with Standard Webhooks, which also rejects recorded deliveries that are sent again later.
# headers: has get() for webhook-id, webhook-timestamp and webhook-signature. now: Unix seconds.
def is_standard_webhook(raw_body, headers, secret, now=None):
    message_id = headers.get("webhook-id") or ""
    sent_at = headers.get("webhook-timestamp") or ""
    if not message_id or not re.fullmatch("[0-9]+", sent_at):
        return False
    if abs((time.time() if now is None else now) - int(sent_at)) > 300:
        return False
    signed = f"{message_id}.{sent_at}.".encode() + raw_body
    digest = hmac.new(standard_key(secret), signed, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(digest)
    # For a day after the secret changes, there are two signatures.
    given = (headers.get("webhook-signature") or "").encode().split(b" ")
    return any([hmac.compare_digest(one, expected) for one in given])


def standard_key(secret):
    found = re.fullmatch("whsec_([A-Za-z0-9+/]{4,}={0,2})", secret)
    if not found:
        return secret.encode()
    try:
        return base64.b64decode(found[1] + "=" * (-len(found[1]) % 4))
    except binascii.Error:
        return secret.encode()


# --- work -------------------------------------------------------------------


def handle(event):
    submission = event["submission"]
    print(event["event"], submission["id"], submission["responses"].get("subject"), flush=True)


def handle_once(event):
    """Calls handle() once for each delivery_id. A failed delivery is sent again."""
    os.makedirs(SEEN, exist_ok=True)
    # The file stands for a row with a unique key. It is better to write that row and your data in one transaction.
    mark = os.path.join(SEEN, re.sub("[^0-9A-Za-z-]", "", event["delivery_id"]))
    try:
        open(mark, "x").close()
    except FileExistsError:
        return False
    try:
        if event["event"] in EVENTS:
            handle(event)
    except Exception:
        os.remove(mark)
        raise
    return True


# --- server -----------------------------------------------------------------


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        raw_body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        is_ours = is_from_formloom(
            raw_body, self.headers.get("X-Service-Signature"), SECRET
        ) and is_standard_webhook(raw_body, self.headers, SECRET)
        if not is_ours:
            return self.answer(401, "")
        try:
            is_new = handle_once(json.loads(raw_body))
        except Exception as error:
            print(repr(error), flush=True)
            return self.answer(500, "")
        return self.answer(200, "done\n" if is_new else "seen before\n")

    def answer(self, status, text):
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    if not SECRET:
        raise SystemExit("WEBHOOK_SECRET is missing.")
    server = ThreadingHTTPServer(("", int(os.environ.get("PORT", "8080"))), Receiver)
    print("listening on", server.server_port, flush=True)
    server.serve_forever()
