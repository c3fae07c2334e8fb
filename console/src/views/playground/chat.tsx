import { type Signal, signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { request } from '../../api/client';
import { href } from '../../router';
import { Button, Field } from '../../ui/controls';
import { duration, perSecond } from '../../ui/format';
import { Card, State } from '../../ui/parts';
import { chatExample } from './examples';
import { Choices, type PanelProps, type Priority, TryOut, useChoice } from './panel';

/** One of several answers that are written side by side. */
interface Lane {
  readonly id: number;
  readonly priority: Priority;
  readonly state: Signal<'queued' | 'running' | 'completed' | 'failed' | 'cancelled'>;
  readonly text: Signal<string>;
  readonly requestId: Signal<string>;
  readonly firstMs: Signal<number | undefined>;
  readonly rate: Signal<number | undefined>;
  readonly abort: AbortController;
}

let lanesMade = 0;

const newLane = (priority: Priority): Lane => ({
  id: ++lanesMade,
  priority,
  state: signal('queued'),
  text: signal(''),
  requestId: signal(''),
  firstMs: signal(undefined),
  rate: signal(undefined),
  abort: new AbortController(),
});

export function Chat(props: PanelProps) {
  const choice = useChoice(props, 'llm');
  const { model, priority } = choice;
  const text = useSignal('Explain in two sentences what a switchyard is.');
  const times = useSignal(1);
  const lanes = useSignal<readonly Lane[]>([]);
  useEffect(() => () => lanes.peek().forEach(({ abort }) => abort.abort()), []);
  const send = () => {
    const made = Array.from({ length: times.value }, () => newLane(priority.value));
    lanes.value = [...made, ...lanes.value].slice(0, 24);
    for (const lane of made) void run(lane, model.value, text.value);
  };
  return (
    <div class="stack">
      <TryOut
        of={choice}
        title="Message to answer"
        example={chatExample(model.value, text.value, priority.value)}
      >
        <Field label="Message">
          <textarea
            value={text.value}
            onInput={event => (text.value = event.currentTarget.value)}
          />
        </Field>
        <Choices of={choice}>
          <Field label="Requests">
            <input
              type="number"
              min={1}
              max={16}
              value={times.value}
              onChange={event =>
                (times.value = Math.min(16, Math.max(1, event.currentTarget.valueAsNumber || 1)))
              }
            />
          </Field>
        </Choices>
        <div class="inline">
          <Button kind="primary" disabled={!text.value.trim()} act={send}>
            Send
          </Button>
          <span class="muted">Send several to see batching and priorities.</span>
        </div>
      </TryOut>
      {lanes.value.length > 0 && (
        <Card title="Answers">
          <div class="lanes">
            {lanes.value.map(lane => (
              <LaneCard key={lane.id} of={lane} />
            ))}
          </div>
        </Card>
      )}
    </div>
  );
}

function LaneCard({
  of: { state, text, requestId, firstMs, rate, priority, abort },
}: {
  of: Lane;
}) {
  const isLive = state.value === 'queued' || state.value === 'running';
  return (
    <article class="lane">
      <span class="inline">
        <State of={state.value} />
        <span class={`tag ${priority}`}>{priority}</span>
        {isLive && (
          <Button kind="quiet" act={() => abort.abort()}>
            Stop
          </Button>
        )}
      </span>
      <p class="answer">{text.value}</p>
      <p class="inline muted small">
        {firstMs.value !== undefined && (
          <span>
            First token <b>{duration(firstMs.value)}</b>
          </span>
        )}
        {rate.value !== undefined && (
          <span>
            Chunks <b>{perSecond(rate.value)}</b>
          </span>
        )}
        {requestId.value && <a href={href('requests', requestId.value)}>Its timing</a>}
      </p>
    </article>
  );
}

async function run(lane: Lane, model: string, content: string): Promise<void> {
  const startMs = performance.now();
  let pieces = 0;
  try {
    const answer = await request('/v1/chat/completions', {
      method: 'POST',
      body: { model, messages: [{ role: 'user', content }], stream: true },
      headers: { 'x-priority': lane.priority },
      signal: lane.abort.signal,
    });
    lane.requestId.value = answer.headers.get('x-request-id') ?? '';
    for await (const data of events(answer)) {
      const { choices, error } = JSON.parse(data) as Chunk;
      if (error) throw new Error(error.message);
      const piece = choices?.[0]?.delta?.content ?? '';
      if (piece === '') continue;
      lane.state.value = 'running';
      lane.firstMs.value ??= performance.now() - startMs;
      lane.text.value += piece;
      lane.rate.value = (1000 * ++pieces) / (performance.now() - startMs);
    }
    lane.state.value = 'completed';
  } catch (error) {
    lane.state.value = lane.abort.signal.aborted ? 'cancelled' : 'failed';
    if (!lane.abort.signal.aborted) lane.text.value += (error as Error).message;
  }
}

interface Chunk {
  readonly choices?: { delta?: { content?: string | null } }[];
  readonly error?: { message: string };
}

/** The data of server-sent events, until `[DONE]`. */
async function* events(answer: Response): AsyncGenerator<string> {
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const data = line.startsWith('data:') ? line.slice(5).trim() : '';
      if (data === '[DONE]') return;
      if (data) yield data;
    }
  }
}
