/**
 * An inference server to be killed, or to cost nothing: `node target-process.mjs [PORT]
 * [MS] [COUNT]`. Chat completions are answered after so many milliseconds (0: at once), so
 * many of them, the others never (all, if nothing is said); a free port is told.
 */
import { createServer } from 'node:http';

const [port, ms, count = Infinity] = process.argv.slice(2).map(Number);
const ANSWER = JSON.stringify({
  ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'bench' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'done' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
});
const HEADERS = { 'content-type': 'application/json', 'content-length': ANSWER.length };

let received = 0;
const server = createServer((request, response) => {
  received += 1;
  if (received > count) return;
  const answer = () => response.writeHead(200, HEADERS).end(ANSWER);
  request.resume().on('end', () => (ms ? setTimeout(answer, ms) : answer()));
});
server.listen(port ?? 0, '127.0.0.1', () =>
  process.send({ type: 'listening', port: server.address().port }),
);
