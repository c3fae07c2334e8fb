import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ApiError, request } from '../../api/client';
import { Card } from '../../ui/parts';
import { Snippet } from '../../ui/snippet';
import { Problem, Skeleton } from '../../ui/states';
import { speakExample } from './examples';
import { type Listed, ModelChoice, NoModel, ofKind, type Priority, PriorityChoice, Timing } from './model-choice';

export function Speak({ models, wanted }: { models: readonly Listed[]; wanted: string }) {
  const own = ofKind(models, 'tts');
  const model = useSignal(own.find(({ id }) => id === wanted)?.id ?? own[0]?.id ?? '');
  const voice = useSignal('');
  const text = useSignal('Every request has a place in the queue.');
  const priority = useSignal<Priority>('realtime');
  const state = useSignal<{ busy?: boolean; url?: string; headers?: Headers; error?: ApiError }>({});
  useEffect(() => () => URL.revokeObjectURL(state.peek().url ?? ''), []);
  if (own.length === 0) return <NoModel kind="text-to-speech" />;
  const voices = own.find(({ id }) => id === model.value)?.voices ?? [];
  const spoken = voices.includes(voice.value) ? voice.value : (voices[0] ?? 'alloy');
  const send = async () => {
    URL.revokeObjectURL(state.value.url ?? '');
    state.value = { busy: true };
    try {
      const body = { model: model.value, voice: spoken, input: text.value, response_format: 'mp3' };
      const headers = { 'x-priority': priority.value };
      const answer = await request('/v1/audio/speech', { method: 'POST', body, headers });
      state.value = { url: URL.createObjectURL(await answer.blob()), headers: answer.headers };
    } catch (error) {
      state.value = { error: error as ApiError };
    }
  };
  return (
    <div class="split">
      <Card title="Text to audio">
        <div class="stack">
          <label class="field">
            Text
            <textarea value={text.value} maxLength={4096} onInput={event => (text.value = event.currentTarget.value)} />
          </label>
          <div class="filters">
            <ModelChoice models={own} chosen={model} />
            <label class="field">
              Voice
              <select value={spoken} onChange={event => (voice.value = event.currentTarget.value)}>
                {(voices.length > 0 ? voices : ['alloy']).map(each => (
                  <option key={each}>{each}</option>
                ))}
              </select>
            </label>
            <PriorityChoice chosen={priority} />
          </div>
          <div class="inline">
            <button
              type="button"
              class="primary"
              disabled={!text.value.trim() || state.value.busy}
              onClick={() => void send()}
            >
              Speak
            </button>
          </div>
          {state.value.busy && <Skeleton rows={1} />}
          {state.value.error && <Problem error={state.value.error} />}
          {state.value.url && (
            <div role="status">
              <audio controls autoplay src={state.value.url} aria-label="The spoken text" />
              <Timing of={state.value.headers} />
            </div>
          )}
        </div>
      </Card>
      <Card title="The same in code">
        <Snippet of={speakExample(model.value, spoken, text.value)} />
      </Card>
    </div>
  );
}
