import { OpenAiUpstream } from '../../support/openai-upstream.js';

/**
 * A server of another vendor, to be killed and stopped: `upstream-process.ts PORT`. Each
 * answer takes 150 ms.
 */
await OpenAiUpstream.start({ port: Number(process.argv[2]), delayMs: 150 });
process.on('disconnect', () => process.exit());
