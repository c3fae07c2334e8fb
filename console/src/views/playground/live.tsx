import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Button } from '../../ui/controls';
import { Icon } from '../../ui/icons';
import { State, type Tone } from '../../ui/parts';
import { Blank } from '../../ui/states';
import { liveExample } from './examples';
import { Microphone } from './microphone';
import { ModelChoice, type PanelProps, TryOut, useChoice } from './panel';
import { Transcription } from './transcription';

interface Item {
  readonly text: string;
  readonly isFinal: boolean;
}

/** Microphone to text while it is spoken. */
export function Live(props: PanelProps) {
  const choice = useChoice(props, 'stt');
  const { model } = choice;
  const state = useSignal<{ text: string; tone: Tone }>({
    text: 'Not listening',
    tone: 'idle',
  });
  const problem = useSignal('');
  const level = useSignal(0);
  const items = useSignal<ReadonlyMap<string, Item>>(new Map());
  const running = useSignal(false);
  const session = useRef<{ transcription: Transcription; microphone: Microphone }>(undefined);
  const stop = async () => {
    const current = session.current;
    session.current = undefined;
    running.value = false;
    level.value = 0;
    current?.transcription.finish();
    await current?.microphone.stop();
  };
  useEffect(() => () => void stop(), []);
  const show = (id: string, text: string, isFinal: boolean) => {
    const next = new Map(items.value);
    if (text === '' && isFinal) next.delete(id);
    else next.set(id, { text, isFinal });
    items.value = next;
  };
  const start = async () => {
    problem.value = '';
    const microphone = new Microphone();
    const transcription = new Transcription({
      state: (tone, text) => (state.value = { text, tone }),
      partial: (id, text) => show(id, text, false),
      final: (id, text) => show(id, text, true),
      problem: text => (problem.value = text),
    });
    try {
      await microphone.start((audio, loudness) => {
        level.value = loudness;
        transcription.send(audio);
      });
      transcription.open(model.value);
      session.current = { transcription, microphone };
      running.value = true;
    } catch (error) {
      await microphone.stop();
      problem.value = `The microphone cannot be used: ${(error as Error).message}`;
    }
  };
  return (
    <TryOut
      of={choice}
      title="Live conversation"
      aside={<State of={state.value.text} tone={state.value.tone} />}
      example={liveExample(model.value)}
    >
      <div class="inline end">
        <ModelChoice of={choice} />
        <Button
          id="record"
          kind="primary"
          aria-pressed={running.value}
          act={running.value ? stop : start}
        >
          <Icon name="microphone" size={16} /> {running.value ? 'Stop' : 'Start listening'}
        </Button>
      </div>
      <progress value={level.value} max={1} aria-label="Loudness of the microphone" />
      {problem.value && (
        <p id="problem" class="state bad wrap" role="alert">
          {problem.value}
        </p>
      )}
      <div id="transcript" aria-live="polite">
        {items.value.size === 0 ? (
          <Blank icon="microphone" title="Speak, and read along">
            Text appears while you speak and settles at the end of a sentence.
          </Blank>
        ) : (
          [...items.value].map(([id, { text, isFinal }]) => (
            <p key={id} data-item={id} class={isFinal ? '' : 'muted'}>
              {text}
            </p>
          ))
        )}
      </div>
    </TryOut>
  );
}
