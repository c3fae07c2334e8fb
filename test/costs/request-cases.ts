/** A list of the caller's: its largest legal size, and a body with so many entries. */
export interface Case {
  readonly path: string;
  readonly most: number;
  readonly body: (count: number) => string;
  /** Of the body, if it is not JSON. */
  readonly type?: string;
  /** What it is answered with (200); a refusal may cost no more. */
  readonly status?: number;
}

const list = (count: number, entry: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => entry(at)).join(',');

const USER = '{"role":"user","content":"x"}';
const tool = (name: string): string =>
  `{"type":"function","function":{"name":"${name}","parameters":{"type":"object"}}}`;
const call = (id: string): string =>
  `{"id":"${id}","type":"function","function":{"name":"f","arguments":"{}"}}`;

const chat = (fields: string, messages = USER): string =>
  `{"model":"m","max_tokens":1,"messages":[${messages}]${fields}}`;
const response = (fields: string, input = '"x"'): string =>
  `{"model":"m","store":false,"input":${input}${fields}}`;
const message = (messages: string, fields = ''): string =>
  `{"model":"m","max_tokens":1,"messages":[${messages}]${fields}}`;
const ollama = (messages: string, fields = ''): string =>
  `{"model":"m","stream":false,"messages":[${messages}]${fields}}`;

/** A schema with so many properties. */
const schema = (count: number): string =>
  `{"type":"object","properties":{${list(count, at => `"p${at}":{"type":"string","maxLength":9}`)}}}`;

const CHAT: Readonly<Record<string, Omit<Case, 'path'>>> = {
  messages: {
    most: 24_000,
    body: n =>
      chat(
        '',
        list(n, () => USER),
      ),
  },
  'parts of a message': {
    most: 24_000,
    body: n =>
      chat('', `{"role":"user","content":[${list(n, () => '{"type":"text","text":"x"}')}]}`),
  },
  'calls and results': {
    most: 5_000,
    body: n =>
      chat(
        '',
        `${USER},` +
          list(
            n,
            at =>
              `{"role":"assistant","content":null,"tool_calls":[${call(`c${at}`)}]},` +
              `{"role":"tool","tool_call_id":"c${at}","content":"y"}`,
          ),
      ),
  },
  tools: { most: 1024, body: n => chat(`,"tools":[${list(n, at => tool(`t${at}`))}]`) },
  'allowed tools × tools': {
    most: 1024,
    body: n =>
      chat(
        `,"tools":[${list(n, at => tool(`t${at}`))}],"tool_choice":{"type":"allowed_tools","allowed_tools":` +
          `{"mode":"auto","tools":[${list(n, at => tool(`t${n - 1 - at}`))}]}}`,
      ),
  },
  biases: { most: 90_000, body: n => chat(`,"logit_bias":{${list(n, at => `"${at}":1`)}}`) },
  'unknown fields': { most: 90_000, body: n => chat(`,${list(n, at => `"k${at}":1`)}`) },
  'unknown fields and a priority': {
    most: 90_000,
    body: n => chat(`,"priority":"batch",${list(n, at => `"k${at}":1`)}`),
  },
  'properties of a schema': {
    most: 10_000,
    body: n =>
      chat(
        `,"response_format":{"type":"json_schema","json_schema":{"name":"s","schema":${schema(n)}}}`,
      ),
  },
  'rules of a grammar': {
    most: 10_000,
    body: n =>
      chat(
        `,"grammar":"root ::= r0\\n${list(n, at => `r${at} ::= \\"x\\"\\n`).replaceAll(',', '')}"`,
      ),
  },
  'long numbers': {
    most: 45_000,
    body: n => chat(`,"k":[${list(n, at => `12345678901234567${at}`)}]`),
  },
};

const RESPONSES: Readonly<Record<string, Omit<Case, 'path'>>> = {
  messages: { most: 10_000, body: n => response('', `[${list(n, () => USER)}]`) },
  calls: {
    most: 10_000,
    body: n =>
      response(
        '',
        `[${list(n, at => `{"type":"function_call","call_id":"c${at}","name":"f","arguments":"{}"}`)}]`,
      ),
  },
  'calls × results': {
    most: 10_000,
    body: n =>
      response(
        '',
        `[${list(n / 2, at => `{"type":"function_call","call_id":"c${at}","name":"f","arguments":"{}"}`)},` +
          `${list(n / 2, at => `{"type":"function_call_output","call_id":"c${n / 2 - 1 - at}","output":"y"}`)}]`,
      ),
  },
  thoughts: {
    most: 10_000,
    body: n =>
      response(
        '',
        `[${list(n - 1, at => `{"type":"reasoning","id":"r${at}","summary":[{"type":"summary_text","text":"hm"}]}`)},${USER}]`,
      ),
  },
  'allowed tools × tools of namespaces': {
    most: 24_576,
    body: n =>
      response(
        `,"tools":[${list(n / 1024, space => `{"type":"namespace","name":"n${space}","tools":[${list(1024, at => `{"type":"function","name":"t${at}"}`)}]}`)}],` +
          `"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[${list(1024, at => `{"type":"function","name":"t${1023 - at}","namespace":"n${n / 1024 - 1}"}`)}]}`,
      ),
  },
};

const MESSAGES: Readonly<Record<string, Omit<Case, 'path'>>> = {
  messages: { most: 10_000, body: n => message(list(n, () => USER)) },
  'blocks of a message': {
    most: 10_000,
    body: n =>
      message(`{"role":"user","content":[${list(n, () => '{"type":"text","text":"x"}')}]}`),
  },
  'calls × results': {
    most: 9_000,
    body: n =>
      message(
        `${USER},{"role":"assistant","content":[${list(n, at => `{"type":"tool_use","id":"c${at}","name":"f","input":{}}`)}]},` +
          `{"role":"user","content":[${list(n, at => `{"type":"tool_result","tool_use_id":"c${n - 1 - at}","content":"y"}`)}]}`,
      ),
  },
  tools: {
    most: 1024,
    body: n =>
      message(
        USER,
        `,"tools":[${list(n, at => `{"name":"t${at}","input_schema":{"type":"object"}}`)}]`,
      ),
  },
  'unknown fields': { most: 90_000, body: n => message(USER, `,${list(n, at => `"k${at}":1`)}`) },
};

const OLLAMA: Readonly<Record<string, Omit<Case, 'path'>>> = {
  messages: { most: 10_000, body: n => ollama(list(n, () => USER)) },
  'calls × results': {
    most: 9_000,
    body: n =>
      ollama(
        `${USER},` +
          list(
            Math.ceil(n / 1000),
            () =>
              `{"role":"assistant","content":"","tool_calls":[${list(Math.min(n, 1000), at => `{"function":{"name":"f${at}","arguments":{}}}`)}]}`,
          ) +
          `,${list(n, at => `{"role":"tool","tool_name":"f${999 - (at % 1000)}","content":"y"}`)}`,
      ),
  },
  options: { most: 90_000, body: n => ollama(USER, `,"options":{${list(n, at => `"k${at}":1`)}}`) },
  'unknown fields': { most: 90_000, body: n => ollama(USER, `,${list(n, at => `"k${at}":1`)}`) },
};

/** What only counts or sums up the same input. */
const COUNTED = {
  '/v1/messages/count_tokens': { messages: MESSAGES.messages!, tools: MESSAGES.tools! },
  '/v1/responses/input_tokens': { messages: RESPONSES.messages!, calls: RESPONSES.calls! },
  // The question for a summary is one item more.
  '/v1/responses/compact': { messages: { ...RESPONSES.messages!, most: 9998 } },
} as const;

const OTHERS: Readonly<Record<string, Case>> = {
  'prompts of a completion': {
    path: '/v1/completions',
    most: 2048,
    body: n => `{"model":"m","max_tokens":1,"prompt":[${list(n, () => '"x"')}]}`,
  },
  'tokens of a completion': {
    path: '/v1/completions',
    most: 990_000,
    body: n => `{"model":"m","max_tokens":1,"prompt":[${list(n, at => String(at % 50_000))}]}`,
  },
  'inputs of embeddings': {
    path: '/v1/embeddings',
    most: 2048,
    body: n => `{"model":"v","input":[${list(n, () => '"x"')}]}`,
  },
  'tokens of embeddings': {
    path: '/v1/embeddings',
    most: 990_000,
    body: n => `{"model":"v","input":[${list(n, at => String(at % 50_000))}]}`,
  },
  'lists of tokens of embeddings': {
    path: '/v1/embeddings',
    most: 2048,
    body: n => `{"model":"v","input":[${list(n, () => `[${list(400, at => String(at))}]`)}]}`,
  },
  'inputs × dimensions of embed': {
    path: '/api/embed',
    most: 800,
    body: n => `{"model":"v","dimensions":1024,"input":[${list(n, () => '"x"')}]}`,
  },
  'images of generate': {
    path: '/api/generate',
    most: 100,
    body: n =>
      `{"model":"m","stream":false,"prompt":"x","options":{"num_predict":1},"images":[${list(n, () => `"${'A'.repeat(60_000)}"`)}]}`,
  },
  'tokens to text': {
    path: '/detokenize',
    most: 990_000,
    body: n => `{"model":"m","tokens":[${list(n, at => String(at % 50_000))}]}`,
    status: 400,
  },
  'words of a prompt to tokens': {
    path: '/tokenize',
    most: 1_000_000,
    body: n => `{"model":"m","prompt":"${'word '.repeat(n)}"}`,
    status: 400,
  },
  'messages to tokens': {
    path: '/tokenize',
    most: 24_000,
    body: n => `{"model":"m","messages":[${list(n, () => USER)}]}`,
    status: 400,
  },
  'words of speech': {
    path: '/v1/audio/speech',
    most: 800,
    body: n => `{"model":"t","voice":"v","input":"${'word '.repeat(n)}"}`,
  },
  'unknown fields of speech': {
    path: '/v1/audio/speech',
    most: 90_000,
    body: n => `{"model":"t","voice":"v","input":"x",${list(n, at => `"k${at}":1`)}}`,
  },
  'unknown fields of a batch': {
    path: '/v1/batches',
    most: 90_000,
    body: n =>
      `{"input_file_id":"file-x","endpoint":"/v1/embeddings","completion_window":"24h",${list(n, at => `"k${at}":1`)}}`,
    status: 404,
  },
  'parts of an upload': {
    path: '/v1/uploads/upload-x/complete',
    most: 90_000,
    body: n => `{"part_ids":[${list(n, at => `"part-${at}"`)}]}`,
    status: 404,
  },
  'unknown fields of a client secret': {
    path: '/v1/realtime/client_secrets',
    most: 90_000,
    body: n => `{"session":{"type":"transcription",${list(n, at => `"k${at}":1`)}}}`,
    status: 400,
  },
  'words of a client secret': {
    path: '/v1/realtime/client_secrets',
    most: 400,
    body: n =>
      `{"session":{"type":"transcription","audio":{"input":{"transcription":{"model":"s","prompt":"${'word '.repeat(n)}"}}}}}`,
  },
  'documents of a rerank': {
    path: '/v1/rerank',
    most: 2048,
    body: n => `{"model":"v","query":"x","documents":[${list(n, at => `"word ${at}"`)}]}`,
  },
  'documents with texts of a rerank': {
    path: '/v1/rerank',
    most: 2048,
    body: n =>
      `{"model":"v","query":"x","return_documents":true,"documents":[${list(n, at => `{"text":"word ${at}"}`)}]}`,
  },
  'unknown fields of a rerank': {
    path: '/v1/rerank',
    most: 90_000,
    body: n => `{"model":"v","query":"x","documents":["y"],${list(n, at => `"k${at}":1`)}}`,
  },
};

/** A multipart body: text fields, then a file. */
const FORM = 'multipart/form-data; boundary=x';
const form = (
  fields: readonly (readonly [string, string])[],
  file: string,
  name = 'file',
): string =>
  fields
    .map(
      ([name, value]) =>
        `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    )
    .join('') +
  `--x\r\nContent-Disposition: form-data; name="${name}"; filename="a.jsonl"\r\n\r\n${file}\r\n--x--\r\n`;
const fields = (count: number, field: (at: number) => readonly [string, string]) =>
  Array.from({ length: count }, (_, at) => field(at));
const spoken = (more: readonly (readonly [string, string])[]): string =>
  form([['model', 's'], ...more], 'hello');
const line = (at: number): string =>
  `{"custom_id":"c${at}","method":"POST","url":"/v1/chat/completions","body":${chat('')}}\n`;

const FORMS: Readonly<Record<string, Omit<Case, 'type'>>> = {
  'lines of a batch file': {
    path: '/v1/files',
    most: 50_000,
    body: n =>
      form(
        [['purpose', 'batch']],
        fields(n, at => [line(at), ''])
          .flat()
          .join(''),
      ),
  },
  'unknown fields of a form': {
    path: '/v1/audio/transcriptions',
    most: 98,
    body: n => spoken(fields(n, at => [`k${at}`, 'x'])),
  },
  'keys of one object of a form': {
    path: '/v1/audio/transcriptions',
    most: 98,
    body: n => spoken(fields(n, at => [`k[${at}x]`, 'y'.repeat(10_000)])),
  },
  'languages of a form': {
    path: '/v1/audio/transcriptions',
    most: 98,
    body: n => spoken(fields(n, () => ['languages[]', 'en'])),
  },
  'words of a prompt': {
    path: '/v1/audio/transcriptions',
    most: 200_000,
    body: n => spoken([['prompt', 'word '.repeat(n)]]),
  },
  'words of a prompt of a translation': {
    path: '/v1/audio/translations',
    most: 200_000,
    body: n => spoken([['prompt', 'word '.repeat(n)]]),
  },
  'unknown fields of a form of /asr': {
    path: '/asr?model=s',
    most: 98,
    body: n =>
      form(
        fields(n, at => [`k${at}`, 'x'.repeat(10_000)]),
        'hello',
        'audio_file',
      ),
  },
  'fields of a chunking strategy': {
    path: '/v1/audio/transcriptions',
    most: 9000,
    body: n =>
      spoken([['chunking_strategy', `{"type":"server_vad",${list(n, at => `"k${at}":1`)}}`]]),
  },
};

const on = (path: string, cases: Readonly<Record<string, Omit<Case, 'path'>>>) =>
  Object.entries(cases).map(([name, one]) => [`${path}: ${name}`, { path, ...one }] as const);

export const CASES: readonly (readonly [string, Case])[] = [
  ...on('/v1/chat/completions', CHAT),
  ...on('/v1/responses', RESPONSES),
  ...on('/v1/messages', MESSAGES),
  ...on('/api/chat', OLLAMA),
  ...Object.entries(COUNTED).flatMap(([path, cases]) => on(path, cases)),
  ...Object.entries(OTHERS),
  ...Object.entries(FORMS).map(([name, one]) => [name, { ...one, type: FORM }] as const),
];

/** Routes that take a body of the caller's and have no case, and why. */
export const WITHOUT_CASE: Readonly<Record<string, string>> = {
  '/detect-language': 'a form as that of /asr',
  '/api/show': 'one name; unknown fields are read as those of /api/chat',
  '/api/pull': 'always refused; the same',
  '/api/push': 'always refused; the same',
  '/v1/uploads': 'four fields of one value',
  '/v1/uploads/{id}/parts': 'bytes that go to disk',
  '/v1/realtime/transcription_sessions': 'the fields of client_secrets',
};
