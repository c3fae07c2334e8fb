import { signal, useSignal } from '@preact/signals';
import { type Answer, post, request } from '../../api/client';
import { useGet } from '../../api/resource';
import { session, signIn } from '../../api/session';
import { attempt, attemptConfirmed, Dialog } from '../../ui/actions';
import { Button, Field } from '../../ui/controls';
import { Card, CopyButton, State, Time } from '../../ui/parts';
import { Blank, Loaded } from '../../ui/states';
import { below, type Column, Table } from '../../ui/table';

type Key = Answer<'/admin/v1/keys'>['data'][number];
type Issued = Answer<'/admin/v1/keys', 'post'>;

/** Outlives the view, which is drawn anew when the first key signs in. */
const made = signal<Issued | undefined>(undefined);

export function Keys() {
  const list = useGet('/admin/v1/keys', { everyMs: 10_000 });
  const creating = useSignal(false);
  const done = (key: Issued) => {
    creating.value = false;
    made.value = key;
    list.reload();
  };
  const create = (
    <Button disabled={list.data === undefined} act={() => (creating.value = true)}>
      Create a key
    </Button>
  );
  return (
    <Card title="Keys" aside={create}>
      {!session.value?.keys_required && <p class="muted">{OPEN}</p>}
      <Loaded from={list} none={<Blank icon="tenants" title="No keys" />}>
        {({ data }) => <KeyTable of={data} reload={list.reload} rotated={done} />}
      </Loaded>
      <Dialog open={creating.value} title="Create a key" onClose={() => (creating.value = false)}>
        <CreateForm done={done} close={() => (creating.value = false)} />
      </Dialog>
      <Dialog
        open={made.value !== undefined}
        title="Your new key"
        onClose={() => (made.value = undefined)}
      >
        <p>It is shown only once. Switchyard stores its hash.</p>
        {made.value?.makes_keys_required && <p>{NOW_REQUIRED}</p>}
        <code class="secret">{made.value?.secret}</code>
        <div class="inline dialog-actions">
          <CopyButton text={made.value?.secret ?? ''} />
          <Button kind="primary" act={() => (made.value = undefined)}>
            I have stored it
          </Button>
        </div>
      </Dialog>
    </Card>
  );
}

const OPEN =
  'No key is required: whoever reaches this server may do everything. The first key that you create makes keys ' +
  'required and needs the scope admin. It has no effect while auth.allow_anonymous is set.';
const NOW_REQUIRED = 'From now on every request needs a key. This browser is signed in with it.';

interface KeyTableProps {
  readonly of: readonly Key[];
  readonly reload: () => void;
  readonly rotated: (key: Issued) => void;
}

function KeyTable({ of: keys, reload, rotated }: KeyTableProps) {
  const revoke = async ({ id, name }: Key) => {
    const question = [
      `Revoke ${name}?`,
      'Requests with it are rejected from now on.',
      'Revoke',
    ] as const;
    const act = () => request(`/admin/v1/keys/${encodeURIComponent(id)}`, { method: 'DELETE' });
    if (await attemptConfirmed(question, act, `${name} is revoked.`)) reload();
  };
  const rotate = ({ id, name }: Key) => {
    const text = 'It gets a new secret. The old one stays valid for one hour.';
    const act = async () =>
      rotated(await post('/admin/v1/keys/{id}/rotate', { id, body: { grace_s: 3600 } }));
    return attemptConfirmed([`Rotate ${name}?`, text, 'Rotate'], act, `${name} has a new secret.`);
  };
  const actions = (key: Key) => {
    if (key.source !== 'database')
      return <span class="muted">in the {key.source === 'file' ? 'keys file' : 'settings'}</span>;
    if (key.revoked_at) return null;
    return (
      <span class="inline">
        <Button kind="quiet" act={() => rotate(key)}>
          Rotate
        </Button>
        <Button kind="quiet" act={() => revoke(key)}>
          Revoke
        </Button>
      </span>
    );
  };
  return <Table label="Keys" of={keys} columns={[...COLUMNS, ['Actions', actions]]} />;
}

const COLUMNS: readonly Column<Key>[] = [
  ['Key', ({ name, prefix }) => [name, below(prefix)]],
  ['Tenant', ({ tenant }) => tenant],
  ['Scopes', ({ scopes, models }) => [scopes.join(', '), below(models?.join(', '))]],
  ['Last used', key => key.source === 'database' && <Time at={key.last_used_at} />],
  ['Expires', key => <Time at={key.expires_at} />],
  [
    'State',
    key => (key.revoked_at ? <State of="revoked" tone="bad" /> : <State of="valid" tone="good" />),
  ],
];

const SCOPES = [
  ['inference', 'send requests and batches'],
  ['events', 'watch the live feed'],
  ['admin', 'administer the server, see all tenants'],
] as const;

const isChosen = (scope: string): boolean =>
  scope === 'inference' || (scope === 'admin' && !session.value?.keys_required);

function CreateForm({ done, close }: { done: (key: Issued) => void; close: () => void }) {
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const days = Number(form.get('days'));
    const models = String(form.get('models') ?? '')
      .split(/[\s,]+/)
      .filter(Boolean);
    const limits = [...String(form.get('limits') ?? '').matchAll(/([a-z_]+)\s*=\s*([\d.]+)/g)];
    const body = {
      ...{
        name: form.get('name'),
        tenant: form.get('tenant'),
        scopes: form.getAll('scopes'),
      },
      ...(models.length > 0 && { models }),
      ...(limits.length > 0 && {
        limits: Object.fromEntries(limits.map(([, of, value]) => [of, Number(value)])),
      }),
      ...(days > 0 && { expires_in_days: days }),
    };
    const act = async () => {
      const key = await post('/admin/v1/keys', { body });
      if (key.makes_keys_required) await signIn(key.secret);
      done(key);
    };
    await attempt(act, 'The key is created.');
  };
  return (
    <form class="stack" onSubmit={event => void submit(event)}>
      <Field label="Name">
        <input name="name" required maxLength={64} />
      </Field>
      <Field label="Tenant">
        <input name="tenant" required maxLength={64} pattern="[A-Za-z0-9._\-]+" />
      </Field>
      <fieldset class="stack">
        <legend class="muted small">Scopes</legend>
        {SCOPES.map(([scope, means]) => (
          <label key={scope} class="inline">
            <input type="checkbox" name="scopes" value={scope} defaultChecked={isChosen(scope)} />{' '}
            {means}
          </label>
        ))}
      </fieldset>
      <Field label="Only these models (empty: all)">
        <input name="models" />
      </Field>
      <Field label="Limits, such as requests_per_minute=60, weight=2 (empty: the usual ones)">
        <input name="limits" pattern="\s*([a-z_]+\s*=\s*[\d.]+[\s,]*)*" />
      </Field>
      <Field label="Expires after days (empty: never)">
        <input name="days" type="number" min={1} max={3650} />
      </Field>
      <div class="inline dialog-actions">
        <Button act={close}>Close</Button>
        <Button kind="primary">Create</Button>
      </div>
    </form>
  );
}
