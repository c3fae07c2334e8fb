import { OPEN_RESPONSES_CASES } from '../support/open-responses.js';

/**
 * The rules of the public Open Responses specification against a server. Usage:
 * open-responses.ts URL
 */
const target = { url: process.argv[2]!, text: 'synthetic-llm', tools: 'llama' };

let failed = 0;
for (const { rule, run } of OPEN_RESPONSES_CASES) {
  try {
    await run(target);
    console.log(`pass  Open Responses: ${rule}`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL  Open Responses: ${rule}: ${(error as Error).message}`);
  }
}
console.log(`${OPEN_RESPONSES_CASES.length - failed} rules passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
