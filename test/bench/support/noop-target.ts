import { createServer } from 'node:http';

/**
 * An inference server that does nothing: reads the request, answers a chat completion. A
 * process of its own.
 */
const ANSWER = Buffer.from(
  JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'bench',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'done' },
        finish_reason: 'stop',
      },
    ],
    usage: { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 },
  }),
);
const HEADERS = { 'content-type': 'application/json', 'content-length': ANSWER.length };

const server = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(200, HEADERS).end(ANSWER));
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.({
    type: 'listening',
    port: typeof address === 'object' ? address?.port : undefined,
  });
});
process.on('SIGTERM', () => process.exit(0));
