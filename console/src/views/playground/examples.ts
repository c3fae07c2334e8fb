import { session } from '../../api/session';

/** The same action in three languages. */
export interface Example {
  readonly curl: string;
  readonly python: string;
  readonly javascript: string;
}

const keyed = (yes: string, no: string): string => (session.value?.keys_required ? yes : no);
const auth = (): string => keyed(' \\\n  -H "Authorization: Bearer $SWITCHYARD_API_KEY"', '');
const asJson = (): string => `${auth()} \\\n  -H 'content-type: application/json'`;

const python = (call: string): string =>
  `${keyed('import os\n', '')}from openai import OpenAI

client = OpenAI(base_url='${location.origin}/v1', api_key=${keyed("os.environ['SWITCHYARD_API_KEY']", "'unused'")})
${call}`;

const javascript = (call: string, imports = ''): string =>
  `${imports}import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: '${location.origin}/v1',
  apiKey: ${keyed('process.env.SWITCHYARD_API_KEY', "'unused'")},
});
${call}`;

/** For a shell, in single quotes. */
const quoted = (value: object): string => `'${JSON.stringify(value).replaceAll("'", `'\\''`)}'`;
/** A text as Python and JavaScript write it. */
const text = (value: string): string => JSON.stringify(value);

export const transcribeExample = (model: string, file: string, format = 'json'): Example => ({
  curl: `curl ${location.origin}/v1/audio/transcriptions${auth()} \\
  -F file=@${file} -F model=${model} -F response_format=${format}`,
  python: python(
    `with open(${text(file)}, 'rb') as audio:
    print(client.audio.transcriptions.create(model=${text(model)}, file=audio).text)`,
  ),
  javascript: javascript(
    `const file = fs.createReadStream(${text(file)});
const { text } = await client.audio.transcriptions.create({ model: ${text(model)}, file });`,
    "import fs from 'node:fs';\n",
  ),
});

export const speakExample = (model: string, voice: string, input: string): Example => ({
  curl: `curl ${location.origin}/v1/audio/speech${asJson()} \\
  -d ${quoted({ model, voice, input })} -o speech.mp3`,
  python: python(
    `speech = client.audio.speech.create(model=${text(model)}, voice=${text(voice)}, input=${text(input)})
speech.write_to_file('speech.mp3')`,
  ),
  javascript: javascript(
    `const speech = await client.audio.speech.create({
  model: ${text(model)},
  voice: ${text(voice)},
  input: ${text(input)},
});`,
  ),
});

export const chatExample = (model: string, content: string, priority = 'batch'): Example => ({
  curl: `curl ${location.origin}/v1/chat/completions${asJson()} \\
  -H 'x-priority: ${priority}' \\
  -d ${quoted({ model, messages: [{ role: 'user', content }], stream: true })}`,
  python: python(
    `stream = client.chat.completions.create(
    model=${text(model)},
    messages=[{'role': 'user', 'content': ${text(content)}}],
    extra_headers={'X-Priority': '${priority}'},
    stream=True,
)
for chunk in stream:
    print(chunk.choices[0].delta.content or '', end='')`,
  ),
  javascript: javascript(
    `const stream = await client.chat.completions.create(
  { model: ${text(model)}, messages: [{ role: 'user', content: ${text(content)} }], stream: true },
  { headers: { 'X-Priority': '${priority}' } },
);
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? '');`,
  ),
});

const embedExample = (model: string): Example => ({
  curl: `curl ${location.origin}/v1/embeddings${asJson()} \\
  -d ${quoted({ model, input: 'A text.' })}`,
  python: python(
    `vector = client.embeddings.create(model=${text(model)}, input='A text.').data[0].embedding`,
  ),
  javascript: javascript(
    `const { data } = await client.embeddings.create({ model: ${text(model)}, input: 'A text.' });`,
  ),
});

export const liveExample = (model: string): Example => {
  const url = `${location.origin.replace(/^http/, 'ws')}/v1/realtime?intent=transcription&model=${model}`;
  return {
    curl: `# A WebSocket: PCM16, mono, 24 kHz goes in, events come out.
websocat${auth()} '${url}'`,
    python: `import asyncio, json, websockets

async def main():
    async with websockets.connect('${url}') as socket:
        async for message in socket:
            print(json.loads(message)['type'])

asyncio.run(main())`,
    javascript: `const socket = new WebSocket('${url}', ['realtime']);
socket.onmessage = ({ data }) => console.log(JSON.parse(data).type);
socket.onopen = () => socket.send(pcm16at24kHz);`,
  };
};

export function exampleFor(
  kind: 'stt' | 'tts' | 'llm' | 'embedding',
  model: string,
  voice = 'alloy',
): Example {
  if (kind === 'stt') return transcribeExample(model, 'audio.mp3');
  if (kind === 'tts') return speakExample(model, voice, 'Every request has a place in the queue.');
  return kind === 'llm' ? chatExample(model, 'Say hello.') : embedExample(model);
}
