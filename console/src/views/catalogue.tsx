import { useSignal } from '@preact/signals';
import { post } from '../api/client';
import { useGet } from '../api/resource';
import { href } from '../router';
import { attempt, Dialog } from '../ui/actions';
import { Button, Select } from '../ui/controls';
import { bytes } from '../ui/format';
import { Card, State, Time } from '../ui/parts';
import { Loaded } from '../ui/states';

/** Models that are being added from the catalogue. */
export function Additions() {
  const list = useGet('/admin/v1/catalogue/additions', { everyMs: 2000 });
  const stop = async (name: string) => {
    const act = () => post('/admin/v1/catalogue/{name}/cancel', { id: name });
    if (await attempt(act, `The download of ${name} is stopped.`)) list.reload();
  };
  const newest = list.data?.data.filter(
    ({ name }, at, all) => all.findIndex(each => each.name === name) === at,
  );
  return newest?.map(({ name, state, started_at: at, lines }) => (
    <Card
      key={`${name} ${at}`}
      title={`Download of ${name}`}
      aside={
        <>
          <State of={state} />
          <Time at={at} />
          {state === 'running' && <Button act={() => stop(name)}>Stop</Button>}
        </>
      }
    >
      <pre class="log" tabIndex={0} aria-label={`Progress of ${name}`}>
        {lines.join('\n')}
      </pre>
    </Card>
  ));
}

/** A line for each model that is fetched now, for the first page. */
export function Arriving() {
  const list = useGet('/admin/v1/catalogue/additions', { everyMs: 2000 });
  const all = list.data?.data ?? [];
  const running = all.filter(({ state }) => state === 'running').reverse();
  if (running.length === 0) return null;
  return (
    <Card title="Models on their way" aside={<a href={href('models')}>Models</a>}>
      <ul class="stack" role="status">
        {running.map(({ name, lines }) => (
          <li key={name} class="inline">
            <b>{name}</b>
            <span class="muted">{lines.at(-1)?.replace(`${name}: `, '')}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

export function AddModel() {
  const open = useSignal(false);
  const close = () => (open.value = false);
  return (
    <>
      <Button act={() => (open.value = true)}>Add from the catalogue</Button>
      <Dialog open={open.value} title="Add a model" onClose={close}>
        <Choose close={close} />
      </Dialog>
    </>
  );
}

/** What a person decides by, as far as the catalogue knows; or why there is no choice. */
const textOf = ({
  name,
  bytes: size,
  licence = 'licence not stated',
  unavailable,
}: {
  name: string;
  bytes: number;
  licence?: string;
  unavailable?: string;
}): string => unavailable ?? `${name} · ${size > 0 ? bytes(size) : 'size unknown'} · ${licence}`;

function Choose({ close }: { close: () => void }) {
  const catalogue = useGet('/admin/v1/catalogue');
  const name = useSignal('');
  return (
    <Loaded from={catalogue}>
      {({ data }) => {
        const chosen =
          data.find(each => each.name === name.value) ??
          data.find(each => each.unavailable === undefined);
        const add = async () => {
          const act = () => post('/admin/v1/catalogue/{name}/add', { id: chosen?.name ?? '' });
          if (await attempt(act, `${chosen?.name} is being downloaded.`)) close();
        };
        return (
          <div class="stack">
            <Select
              label="Model"
              of={data.map(each => [each.name, textOf(each), each.unavailable !== undefined])}
              value={chosen?.name ?? ''}
              onChange={value => (name.value = value)}
            />
            <p>{chosen?.summary}</p>
            <p class="muted">
              Download: {chosen?.bytes ? bytes(chosen.bytes) : 'size unknown'}. Licence:{' '}
              {chosen?.licence ?? 'not stated'}.
            </p>
            <div class="inline dialog-actions">
              <Button act={close}>Close</Button>
              <Button kind="primary" act={add}>
                Download and serve
              </Button>
            </div>
          </div>
        );
      }}
    </Loaded>
  );
}
