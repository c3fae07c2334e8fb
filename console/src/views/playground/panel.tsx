import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Answer, ApiError } from '../../api/client';
import { href } from '../../router';
import { bound, Button, Select } from '../../ui/controls';
import { duration } from '../../ui/format';
import { Card } from '../../ui/parts';
import { Snippet } from '../../ui/snippet';
import { Blank, Problem, Skeleton } from '../../ui/states';
import type { Example } from './examples';

export type Listed = Answer<'/v1/models'>['data'][number];

export interface PanelProps {
  readonly models: readonly Listed[];
  /** The model that the address names. */
  readonly wanted: string;
}

export type Priority = 'realtime' | 'batch';
const PRIORITIES = [
  ['realtime', 'Realtime'],
  ['batch', 'Batch'],
] as const;
const KINDS = {
  stt: 'speech-to-text',
  tts: 'text-to-speech',
  llm: 'language',
  embedding: 'embedding',
} as const;

/** The names that stock clients ask for: who has them answers here, too. */
const USUAL: Partial<Record<Listed['kind'], string>> = {
  stt: 'whisper-1',
  tts: 'tts-1',
  llm: 'gpt-4o-mini',
};

/** The models of a kind, the chosen one, and the priority. */
export function useChoice({ models, wanted }: PanelProps, kind: Listed['kind']) {
  const own = models.filter(each => each.kind === kind && each.id === each.root);
  const usual = models.find(({ id }) => id === USUAL[kind])?.root;
  const model = useSignal(own.find(({ id }) => id === wanted)?.id ?? usual ?? own[0]?.id ?? '');
  return { kind, own, model, priority: useSignal<Priority>('realtime') };
}

interface ChoiceProps {
  readonly of: ReturnType<typeof useChoice>;
  readonly children?: ComponentChildren;
}

export const ModelChoice = ({ of: { own, model } }: ChoiceProps) => (
  <Select label="Model" of={own.map(({ id }) => id)} {...bound(model)} />
);

export const Choices = ({ of: choice, children }: ChoiceProps) => (
  <div class="filters">
    <ModelChoice of={choice} />
    <Select label="Priority" of={PRIORITIES} {...bound(choice.priority)} />
    {children}
  </div>
);

interface TryOutProps extends ChoiceProps {
  readonly title: string;
  readonly aside?: ComponentChildren;
  readonly example: Example;
}

/** An action by hand, beside the code that does the same. */
export const TryOut = ({ of: { own, kind }, title, aside, example, children }: TryOutProps) =>
  own.length === 0 ? (
    <Blank icon="models" title={`No ${KINDS[kind]} model is served here`}>
      <a href={href('models')}>All models</a>
    </Blank>
  ) : (
    <div class="split">
      <Card title={title} aside={aside}>
        <div class="stack">{children}</div>
      </Card>
      <Card title="The same in code">
        <Snippet of={example} />
      </Card>
    </div>
  );

interface Sent<T> {
  readonly busy?: boolean;
  readonly result?: T;
  readonly headers?: Headers;
  readonly error?: ApiError;
}

/** One request at a time, and what became of the last. */
export function useSending<T>(
  ask: () => Promise<Response>,
  read: (answer: Response) => Promise<T>,
) {
  const sent = useSignal<Sent<T>>({});
  const send = async () => {
    sent.value = { busy: true };
    try {
      const answer = await ask();
      sent.value = { result: await read(answer), headers: answer.headers };
    } catch (error) {
      sent.value = { error: error as ApiError };
    }
  };
  return { sent, send };
}

interface SendingProps<T> {
  readonly of: Sent<T>;
  readonly verb: string;
  readonly disabled: boolean;
  readonly send: () => Promise<void>;
  /** Draws the answer. */
  readonly children: (result: T) => ComponentChildren;
}

/** The button, and what came of it. */
export const Sending = <T,>({
  of: { busy, error, result, headers },
  verb,
  disabled,
  send,
  children,
}: SendingProps<T>) => (
  <>
    <div class="inline">
      <Button kind="primary" disabled={disabled || busy} act={send}>
        {verb}
      </Button>
    </div>
    {busy && <Skeleton rows={2} />}
    {error && <Problem error={error} />}
    {result !== undefined && (
      <div role="status">
        {children(result)}
        <Timing of={headers} />
      </div>
    )}
  </>
);

/** What the headers of an answer say of its way. */
function Timing({ of: headers }: { of: Headers | undefined }) {
  if (!headers) return null;
  const ms = (name: string) => {
    const value = headers.get(`x-switchyard-${name}-ms`);
    return value === null ? undefined : duration(Number(value));
  };
  const parts: [string, string | undefined | null][] = [
    ['Waited', ms('queue')],
    ['Window', ms('batch-wait')],
    ['Device', ms('device')],
    ['First token', ms('ttft')],
    ['In a group of', headers.get('x-switchyard-batch-size')],
    [
      'Total',
      headers.get('openai-processing-ms') && duration(Number(headers.get('openai-processing-ms'))),
    ],
    ['Ignored', headers.get('x-switchyard-ignored')],
  ];
  return (
    <p class="inline muted small">
      {parts
        .filter(([, value]) => value)
        .map(([name, value]) => (
          <span key={name}>
            {name} <b>{value}</b>
          </span>
        ))}
    </p>
  );
}
