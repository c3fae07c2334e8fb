import { type Answer, get, post } from '../api/client';
import { useResource } from '../api/resource';
import { isAdmin, mayInfer } from '../api/session';
import { href } from '../router';
import { attempt, attemptConfirmed } from '../ui/actions';
import { Button } from '../ui/controls';
import { plural } from '../ui/format';
import { Card, Facts, Page, State, Time } from '../ui/parts';
import { Snippet } from '../ui/snippet';
import { Blank, Loaded } from '../ui/states';
import { AddModel, Additions } from './catalogue';
import { type Example, exampleFor } from './playground/examples';

type Listed = Answer<'/v1/models'>['data'][number];
type Run = Answer<'/admin/v1/models'>['data'][number];

interface Model {
  readonly id: string;
  readonly listed: Listed | undefined;
  readonly run: Run | undefined;
  readonly aliases: readonly string[];
}

const NOTHING = { data: [] };

export function Models() {
  const list = useResource(
    async signal => {
      const [listed, runs] = await Promise.all([
        mayInfer.value ? get('/v1/models', { signal }) : NOTHING,
        isAdmin.value ? get('/admin/v1/models', { signal }) : NOTHING,
      ]);
      return joined(listed.data, runs.data);
    },
    'models',
    2000,
  );
  const reread = async () => {
    const text =
      'Models are added, replaced and removed as the file says. Running requests finish.';
    let changes = '';
    const act = async () => {
      const { added, changed, removed } = await post('/admin/v1/models/reload');
      changes = `${added.length} added, ${changed.length} changed, ${removed.length} removed.`;
    };
    const question = ['Reload the models file?', text, 'Reload'] as const;
    if (await attemptConfirmed(question, act, () => changes)) list.reload();
  };
  const actions = isAdmin.value && (
    <>
      <AddModel />
      <Button act={reread}>Reload models file</Button>
    </>
  );
  const none = (
    <Blank icon="models" title="No models">
      Add one from the catalogue, or with <code>switchyard models add</code>.
    </Blank>
  );
  return (
    <Page title="Models" lead="What this server serves, and how to call it." actions={actions}>
      {isAdmin.value && <Additions />}
      <Loaded from={list} rows={6} none={none}>
        {models => (
          <div class="stack">
            {models.map(model => (
              <ModelCard key={model.id} of={model} reload={list.reload} />
            ))}
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function joined(listed: readonly Listed[], runs: readonly Run[]): Model[] {
  const ids = new Set([...runs.map(({ id }) => id), ...listed.map(({ root }) => root)]);
  return [...ids].map(id => ({
    id,
    listed: listed.find(each => each.id === id) ?? listed.find(each => each.root === id),
    run: runs.find(each => each.id === id),
    aliases: listed.filter(each => each.root === id && each.id !== id).map(each => each.id),
  }));
}

const KINDS = {
  stt: 'Speech to text',
  tts: 'Text to speech',
  llm: 'Language model',
  embedding: 'Embeddings',
} as const;

function ModelCard({
  of: { id, listed, run, aliases },
  reload,
}: {
  of: Model;
  reload: () => void;
}) {
  const state = run?.state ?? listed?.state ?? 'unknown';
  const example: Example | undefined =
    listed && exampleFor(listed.kind, aliases[0] ?? id, listed.voices[0]);
  return (
    <Card title={id} aside={<State of={state} />}>
      <div class="split">
        <div class="stack">
          <Facts
            of={[
              ['Kind', listed && KINDS[listed.kind]],
              ['Aliases', aliases.join(', ')],
              ['Languages', listed?.languages.join(', ')],
              [
                'Capabilities',
                listed?.capabilities.map(name => name.replaceAll('_', ' ')).join(', '),
              ],
              ['Voices', listed?.voices.join(', ')],
              ['Workers', run && workersOf(run)],
              [
                'Starts',
                run &&
                  (run.autostart === 'on_request' ? 'with the first request' : 'with the server'),
              ],
              ['Last used', run && <Time at={run.last_used} />],
            ]}
          />
          {run?.reason && <p class="state bad wrap">{run.reason}</p>}
          <div class="inline">
            {listed && mayInfer.value && (
              <a
                class="button"
                href={href('playground', undefined, {
                  mode: MODES[listed.kind],
                  model: id,
                })}
              >
                Try it
              </a>
            )}
            {run && <Switch of={run} reload={reload} />}
          </div>
        </div>
        {example && <Snippet of={example} />}
      </div>
    </Card>
  );
}

const MODES = {
  stt: 'transcribe',
  tts: 'speak',
  llm: 'chat',
  embedding: 'chat',
} as const;

const workersOf = ({ workers, running }: Run): string => {
  const ready = workers.filter(({ state }) => state === 'ready' || state === 'busy').length;
  return `${ready} of ${plural(workers.length, 'worker')} ready, ${plural(running, 'request')} in flight`;
};

function Switch({ of: { id, state, running }, reload }: { of: Run; reload: () => void }) {
  const isOff = state === 'unloaded' || state === 'unloading';
  const load = async () => {
    if (await attempt(() => post('/admin/v1/models/{id}/load', { id }), `${id} is loading.`))
      reload();
  };
  const unload = async () => {
    const text = `${plural(running, 'running request')} will finish; waiting ones are rejected.`;
    const act = () => post('/admin/v1/models/{id}/unload', { id });
    if (await attemptConfirmed([`Unload ${id}?`, text, 'Unload'], act, `${id} is unloading.`))
      reload();
  };
  return (
    <Button kind={isOff ? 'primary' : 'danger'} act={isOff ? load : unload}>
      {isOff ? 'Load' : 'Unload'}
    </Button>
  );
}
