/**
 * An inference server to be killed: `node target-process.mjs PORT`. Every chat completion
 * is answered after 5 ms.
 */
import { createServer } from 'node:http';

const ANSWER = JSON.stringify({
  choices: [],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
});

createServer((request, response) => {
  request.resume().on('end', () => {
    setTimeout(
      () => response.writeHead(200, { 'content-type': 'application/json' }).end(ANSWER),
      5,
    );
  });
}).listen(Number(process.argv[2]), '127.0.0.1', () => process.send({ type: 'listening' }));
