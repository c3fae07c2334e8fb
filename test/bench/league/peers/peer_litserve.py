"""https://lightning.ai/docs/litserve/features/batching"""

import litserve as ls
from device import GROUP, PORT, WINDOW_S, run


class Transcriber(ls.LitAPI):
    def setup(self, device):
        pass

    def decode_request(self, request):
        return request

    def batch(self, inputs):
        return list(inputs)

    def predict(self, items):
        return run([item["model"] for item in items])

    def unbatch(self, output):
        return output

    def encode_response(self, output):
        return {"text": output}


if __name__ == "__main__":
    api = Transcriber(max_batch_size=GROUP, batch_timeout=WINDOW_S, api_path="/transcribe")
    server = ls.LitServer(api, accelerator="cpu")
    server.run(host="127.0.0.1", port=PORT, log_level="warning", generate_client_file=False, access_log=False)
