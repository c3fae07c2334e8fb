import { deepEqual, equal, ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { createOpenAI } from '@ai-sdk/openai';
import { Agent, OpenAIProvider, Runner, tool as agentTool } from '@openai/agents';
import { generateText, Output, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';

/**
 * Vercel AI SDK, OpenAI Agents SDK and Codex, which call Responses by default. Usage:
 * node run.mjs BASE_URL FOLDER, which has the `addresses.json` of `generate-models.ts`.
 */
const baseURL = process.argv[2];
const model = createOpenAI({ baseURL, apiKey: 'unused' })('llama-long');
const prompt = 'what does a switchyard do?';
// A model of random weights may end at once otherwise.
const likeliest = { model, prompt, maxOutputTokens: 24, temperature: 0 };
const inputSchema = z.object({ celsius: z.boolean() });

let failed = 0;
async function check(name, run) {
  try {
    await run();
    console.log(`pass  ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL  ${name}: ${error.message}`);
  }
}

await check('AI SDK: generateText, with usage', async () => {
  const { text: said, usage } = await generateText(likeliest);
  ok(said.length > 0);
  equal(usage.totalTokens, usage.inputTokens + usage.outputTokens);
});

await check('AI SDK: streamText, without an error among its parts', async () => {
  const parts = [];
  for await (const part of streamText(likeliest).fullStream) parts.push(part.type);
  const said = ['text-start', 'text-delta', 'text-end'];
  deepEqual([...new Set(parts)], ['start', 'start-step', ...said, 'finish-step', 'finish']);
});

await check('AI SDK: an object by a schema', async () => {
  const output = Output.object({ schema: z.object({ on: z.boolean() }) });
  const answer = await generateText({ model, prompt, output });
  equal(typeof answer.output.on, 'boolean');
});

// It sends earlier items as they are, or by their ids where it takes them for stored.
for (const openai of [{}, { store: false }]) {
  await check(`AI SDK: a tool in two steps, ${JSON.stringify(openai)}`, async () => {
    const seen = [];
    const weather = tool({ inputSchema, execute: given => seen.push(given) && 'rain' });
    const asked = {
      model,
      prompt,
      tools: { weather },
      toolChoice: 'required',
      maxOutputTokens: 400,
    };
    const providerOptions = { openai: { parallelToolCalls: false, ...openai } };
    const { steps } = await generateText({
      ...asked,
      providerOptions,
      stopWhen: stepCountIs(2),
    });
    deepEqual([steps.length, seen.length, typeof seen[0].celsius], [2, 2, 'boolean']);
  });
}

await check('Agents SDK: an agent hands over to another one, which calls its tool', async () => {
  const called = [];
  const weather = agentTool({
    ...{ name: 'weather', description: 'The weather.', parameters: inputSchema },
    execute: given => called.push(given) && 'rain',
  });
  const modelSettings = {
    toolChoice: 'required',
    parallelToolCalls: false,
    maxTokens: 400,
    store: false,
  };
  const second = new Agent({
    name: 'Second',
    model: 'llama-long',
    tools: [weather],
    modelSettings,
  });
  const first = new Agent({
    name: 'First',
    model: 'llama-long',
    handoffs: [second],
    modelSettings,
  });
  const modelProvider = new OpenAIProvider({
    baseURL,
    apiKey: 'unused',
    useResponses: true,
  });
  const result = await new Runner({ modelProvider, tracingDisabled: true }).run(first, prompt, {
    maxTurns: 6,
  });
  deepEqual([result.lastAgent.name, called.length], ['Second', 1]);
});

/** What agents call the tool that runs a command. */
const SHELLS = /^(exec_command|bash)$/i;

/**
 * The server behind the model `scripted`: it runs a command, then says what it brought.
 * @returns bodies it received
 */
async function scriptedServer() {
  const bodies = [];
  const server = createServer((request, response) => {
    void text(request).then(body => {
      if (request.method !== 'POST')
        return response.end('{"object":"list","data":[{"id":"scripted"}]}');
      const { messages, tools = [] } = JSON.parse(body);
      bodies.push({ messages, tools: tools.map(one => one.function.name) });
      const brought = messages.findLast(({ role }) => role === 'tool')?.content;
      const name = tools.map(one => one.function.name).find(one => SHELLS.test(one));
      const line = 'echo left track';
      const given = JSON.stringify(
        name === 'exec_command' ? { cmd: line } : { command: line, description: 'Echoes.' },
      );
      // Agents also ask for titles, without tools.
      const calls = brought === undefined && name !== undefined;
      const call = {
        index: 0,
        id: 'call_1',
        type: 'function',
        function: { name, arguments: given },
      };
      const delta = calls
        ? { tool_calls: [call] }
        : { content: `It brought: ${brought ?? 'nothing'}` };
      const finish_reason = calls ? 'tool_calls' : 'stop';
      response.setHeader('content-type', 'text/event-stream');
      for (const choice of [{ delta }, { delta: {}, finish_reason }])
        response.write(
          `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, ...choice }] })}\n\n`,
        );
      return response.end('data: [DONE]\n\n');
    });
  });
  const { scripted } = JSON.parse(await readFile(join(process.argv[3], 'addresses.json'), 'utf8'));
  const [host, port] = scripted.split(':');
  await once(server.listen(Number(port), host), 'listening');
  return { bodies, close: () => server.close() };
}

const provider = `{ name = "here", base_url = "${baseURL}", wire_api = "responses" }`;
const socketed = provider.replace(' }', ', supports_websockets = true }');
const codex = provider => ({
  program: 'codex',
  args: [
    ...['exec', '--skip-git-repo-check', '-c', `model_providers.here=${provider}`],
    ...['-c', 'model_provider=here', '--model', 'scripted'],
  ],
  env: folder => ({ CODEX_HOME: folder }),
});
const openCode = {
  provider: {
    here: {
      npm: '@ai-sdk/openai-compatible',
      options: { baseURL, apiKey: 'unused' },
      models: { scripted: {} },
    },
  },
};
/** Each with its own settings only, as in docs/guides/integrations.md. */
const AGENTS = {
  'Codex CLI': codex(provider),
  'Codex CLI over a WebSocket': codex(socketed),
  'Claude Code': {
    program: 'claude',
    args: ['--model', 'scripted', '--allowedTools', 'Bash', '-p'],
    env: folder => ({
      CLAUDE_CONFIG_DIR: folder,
      ANTHROPIC_BASE_URL: baseURL.replace(/\/v1$/, ''),
      ANTHROPIC_AUTH_TOKEN: 'unused',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    }),
  },
  opencode: {
    program: 'opencode',
    args: ['run', '--model', 'here/scripted'],
    env: folder => ({
      HOME: folder,
      XDG_CONFIG_HOME: folder,
      XDG_DATA_HOME: folder,
      OPENCODE_CONFIG_CONTENT: JSON.stringify(openCode),
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
    }),
  },
};

for (const [name, { program, args, env }] of Object.entries(AGENTS))
  await check(`${name}, as it is installed: a loop with its own tool`, async () => {
    const folder = await mkdtemp(join(tmpdir(), `${program}-`));
    const { bodies, close } = await scriptedServer();
    try {
      const file = join(import.meta.dirname, 'node_modules', '.bin', program);
      const options = {
        cwd: folder,
        env: { ...process.env, ...env(folder) },
        timeout: 90_000,
      };
      const running = promisify(execFile)(file, [...args, prompt], options);
      running.child.stdin.end();
      const { stdout } = await running;
      ok(/It brought: [^]*left track/.test(stdout), stdout);
      ok(bodies.some(({ tools }) => tools.some(tool => SHELLS.test(tool))));
      const brought = bodies.flatMap(({ messages }) => messages.at(-1)).at(-1);
      equal(brought.tool_call_id ?? brought.role, 'call_1');
    } finally {
      close();
      await rm(folder, { recursive: true, force: true });
    }
  });

console.log(`${failed === 0 ? 'all passed' : `${failed} failed`}`);
process.exit(failed === 0 ? 0 : 1);
