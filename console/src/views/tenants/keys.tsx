import { useSignal } from '@preact/signals';
import { request } from '../../api/client';
import { useResource } from '../../api/resource';
import { attempt, confirmed, Dialog } from '../../ui/actions';
import { Card, CopyButton, State, Time } from '../../ui/parts';
import { Blank, Loaded } from '../../ui/states';

interface Key {
  readonly id: string;
  readonly name: string;
  readonly tenant: string;
  readonly scopes: readonly string[];
  readonly models: readonly string[] | null;
  readonly prefix: string;
  readonly source: 'database' | 'file' | 'setting';
  readonly created_at: number | null;
  readonly expires_at: number | null;
  readonly last_used_at: number | null;
  readonly revoked_at: number | null;
}

interface Made extends Key {
  readonly secret: string;
}

const PATH = '/admin/v1/keys';

export function Keys() {
  const list = useResource(
    async signal => (await (await request(PATH, { signal })).json()) as { data: Key[] },
    'keys',
    10_000,
  );
  const creating = useSignal(false);
  const made = useSignal<Made | undefined>(undefined);
  const done = (key: Made) => {
    creating.value = false;
    made.value = key;
    list.reload();
  };
  const create = (
    <button type="button" disabled={list.data === undefined} onClick={() => (creating.value = true)}>
      Create a key
    </button>
  );
  return (
    <Card title="Keys" aside={create}>
      <Loaded from={list}>
        {({ data }) =>
          data.length === 0 ? (
            <Blank icon="tenants" title="No keys">
              This server does not require a key.
            </Blank>
          ) : (
            <KeyTable of={data} reload={list.reload} rotated={done} />
          )
        }
      </Loaded>
      <Dialog open={creating.value} title="Create a key" onClose={() => (creating.value = false)}>
        <CreateForm done={done} close={() => (creating.value = false)} />
      </Dialog>
      <Dialog open={made.value !== undefined} title="Your new key" onClose={() => (made.value = undefined)}>
        <p>It is shown this once. Only its hash is kept.</p>
        <code class="secret">{made.value?.secret}</code>
        <div class="dialog-actions">
          <CopyButton text={made.value?.secret ?? ''} />
          <button type="button" class="primary" onClick={() => (made.value = undefined)}>
            I have stored it
          </button>
        </div>
      </Dialog>
    </Card>
  );
}

interface TableProps {
  readonly of: readonly Key[];
  readonly reload: () => void;
  readonly rotated: (key: Made) => void;
}

function KeyTable({ of: keys, reload, rotated }: TableProps) {
  const revoke = async ({ id, name }: Key) => {
    if (!(await confirmed(`Revoke ${name}?`, 'Whoever uses it is refused at once.', 'Revoke'))) return;
    if (await attempt(() => request(`${PATH}/${encodeURIComponent(id)}`, { method: 'DELETE' }), `${name} is revoked.`))
      reload();
  };
  const rotate = async ({ id, name }: Key) => {
    const text = 'A new secret is made; the old one works for another hour.';
    if (!(await confirmed(`Rotate ${name}?`, text, 'Rotate'))) return;
    const act = async () => {
      const path = `${PATH}/${encodeURIComponent(id)}/rotate`;
      const answer = await request(path, { method: 'POST', body: { grace_s: 3600 } });
      rotated((await answer.json()) as Made);
    };
    await attempt(act, `${name} has a new secret.`);
  };
  return (
    <div class="table-box flush" tabIndex={0} role="region" aria-label="Keys">
      <table>
        <thead>
          <tr>
            {['Key', 'Tenant', 'Scopes', 'Last used', 'Expires', 'State'].map(name => (
              <th scope="col" key={name}>
                {name}
              </th>
            ))}
            <th scope="col">
              <span class="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map(key => (
            <tr key={key.id}>
              <th scope="row">
                {key.name}
                <span class="muted sub mono">{key.prefix}</span>
              </th>
              <td>{key.tenant}</td>
              <td>
                {key.scopes.join(', ')}
                {key.models && <span class="muted sub">{key.models.join(', ')}</span>}
              </td>
              <td>
                <Time at={key.last_used_at} />
              </td>
              <td>
                <Time at={key.expires_at} />
              </td>
              <td>
                <State of={key.revoked_at ? 'revoked' : 'valid'} tone={key.revoked_at ? 'bad' : 'good'} />
              </td>
              <td>
                {key.source !== 'database' ? (
                  <span class="muted">in the {key.source === 'file' ? 'keys file' : 'settings'}</span>
                ) : (
                  !key.revoked_at && (
                    <span class="inline">
                      <button type="button" class="quiet" onClick={() => void rotate(key)}>
                        Rotate
                      </button>
                      <button type="button" class="quiet" onClick={() => void revoke(key)}>
                        Revoke
                      </button>
                    </span>
                  )
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const SCOPES = [
  ['inference', 'send requests and batches'],
  ['events', 'watch the live feed'],
  ['admin', 'see and stop everything'],
] as const;

function CreateForm({ done, close }: { done: (key: Made) => void; close: () => void }) {
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const days = Number(form.get('days'));
    const models = String(form.get('models') ?? '')
      .split(/[\s,]+/)
      .filter(Boolean);
    const body = {
      ...{ name: form.get('name'), tenant: form.get('tenant'), scopes: form.getAll('scopes') },
      ...(models.length > 0 && { models }),
      ...(days > 0 && { expires_in_days: days }),
    };
    const act = async () => done((await (await request(PATH, { method: 'POST', body })).json()) as Made);
    await attempt(act, 'The key is made.');
  };
  return (
    <form class="stack" onSubmit={event => void submit(event)}>
      <label class="field">
        Name
        <input name="name" required maxLength={64} />
      </label>
      <label class="field">
        Tenant
        <input name="tenant" required maxLength={64} pattern="[A-Za-z0-9._\-]+" />
      </label>
      <fieldset class="scopes">
        <legend>May</legend>
        {SCOPES.map(([scope, means]) => (
          <label key={scope} class="inline">
            <input type="checkbox" name="scopes" value={scope} defaultChecked={scope === 'inference'} /> {means}
          </label>
        ))}
      </fieldset>
      <label class="field">
        Only these models (empty: all)
        <input name="models" />
      </label>
      <label class="field">
        Expires after days (empty: never)
        <input name="days" type="number" min={1} max={3650} />
      </label>
      <div class="dialog-actions">
        <button type="button" onClick={close}>
          Close
        </button>
        <button type="submit" class="primary">
          Create
        </button>
      </div>
    </form>
  );
}
