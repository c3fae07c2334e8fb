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
  const changing = useSignal<Key | undefined>(undefined);
  const done = (key: Issued) => {
    creating.value = false;
    made.value = key;
    list.reload();
  };
  const create = (body: object) => {
    const act = async () => {
      const key = await post('/admin/v1/keys', { body });
      if (key.makes_keys_required) await signIn(key.secret);
      done(key);
    };
    return attempt(act, 'The key is created.');
  };
  const change = (body: object) => {
    const { id = '', name = '' } = changing.value ?? {};
    const act = async () => {
      await request(`/admin/v1/keys/${encodeURIComponent(id)}`, { method: 'PATCH', body });
      changing.value = undefined;
      list.reload();
    };
    return attempt(act, `${name} is changed.`);
  };
  const button = (
    <Button disabled={list.data === undefined} act={() => (creating.value = true)}>
      Create a key
    </Button>
  );
  return (
    <Card title="Keys" aside={button}>
      {!session.value?.keys_required && <p class="muted">{OPEN}</p>}
      <Loaded from={list} none={<Blank icon="tenants" title="No keys" />}>
        {({ data }) => (
          <KeyTable
            of={data}
            reload={list.reload}
            rotated={done}
            change={key => (changing.value = key)}
          />
        )}
      </Loaded>
      <Dialog open={creating.value} title="Create a key" onClose={() => (creating.value = false)}>
        <KeyForm save={create} close={() => (creating.value = false)} />
      </Dialog>
      <Dialog
        open={changing.value !== undefined}
        title={`Change ${changing.value?.name ?? ''}`}
        onClose={() => (changing.value = undefined)}
      >
        <KeyForm of={changing.value} save={change} close={() => (changing.value = undefined)} />
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
  readonly change: (key: Key) => void;
}

function KeyTable({ of: keys, reload, rotated, change }: KeyTableProps) {
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
        <Button kind="quiet" act={() => change(key)}>
          Change
        </Button>
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

const MOST_NAMES = 3;

/** The first, and how many more there are. */
const someOf = (names: readonly string[]): string =>
  names.slice(0, MOST_NAMES).join(', ') +
  (names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : '');

const COLUMNS: readonly Column<Key>[] = [
  ['Key', ({ name, prefix }) => [name, below(prefix)]],
  ['Tenant', ({ tenant }) => tenant],
  ['Scopes', ({ scopes, models }) => [scopes.join(', '), below(models && someOf(models))]],
  ['Limits', ({ limits }) => pairsOf(limits) || <span class="muted">of its tenant</span>],
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

interface KeyFormProps {
  /** To change; absent: a new one. */
  readonly of?: Key | undefined;
  readonly save: (terms: object) => Promise<unknown>;
  readonly close: () => void;
}

const pairsOf = (limits: Key['limits']): string =>
  Object.entries(limits ?? {})
    .map(pair => pair.join('='))
    .join(', ');

const dateOf = (seconds: number | null | undefined): string =>
  seconds ? new Date(seconds * 1000).toISOString().slice(0, 10) : '';

/** The last second of a day. */
const endOf = (date: string): number => Date.parse(`${date}T23:59:59Z`) / 1000;

function termsIn(form: FormData, before: Key | undefined) {
  const textOf = (name: string) => String(form.get(name) ?? '');
  const models = textOf('models')
    .split(/[\s,]+/)
    .filter(Boolean);
  const limits = [...textOf('limits').matchAll(/([a-z_]+)\s*=\s*([\d.]+)/g)];
  const date = textOf('expires');
  return {
    name: textOf('name'),
    scopes: form.getAll('scopes'),
    models: models.length > 0 ? models : null,
    limits:
      limits.length > 0
        ? Object.fromEntries(limits.map(([, of, value]) => [of, Number(value)]))
        : null,
    // One that is in the past already could not be set again.
    ...(date !== dateOf(before?.expires_at) && { expires_at: date === '' ? null : endOf(date) }),
  };
}

/** What a key may, for a new one and for a change; its tenant stays. */
function KeyForm({ of: key, save, close }: KeyFormProps) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const terms = termsIn(form, key);
    void save(key ? terms : { ...terms, tenant: form.get('tenant') });
  };
  const isScope = (scope: string) => key?.scopes.some(one => one === scope) ?? isChosen(scope);
  return (
    <form class="stack" onSubmit={submit}>
      <Field label="Name">
        <input name="name" required maxLength={64} defaultValue={key?.name ?? ''} />
      </Field>
      {!key && (
        <Field label="Tenant">
          <input name="tenant" required maxLength={64} pattern="[A-Za-z0-9._\-]+" />
        </Field>
      )}
      <fieldset class="stack">
        <legend class="muted small">Scopes</legend>
        {SCOPES.map(([scope, means]) => (
          <label key={scope} class="inline">
            <input type="checkbox" name="scopes" value={scope} defaultChecked={isScope(scope)} />{' '}
            {means}
          </label>
        ))}
      </fieldset>
      <Field label="Only these models (empty: all)">
        <input name="models" defaultValue={key?.models?.join(', ') ?? ''} />
      </Field>
      <Field label="Limits, such as requests_per_minute=60, weight=2 (empty: the usual ones)">
        <input
          name="limits"
          pattern="\s*([a-z_]+\s*=\s*[\d.]+[\s,]*)*"
          defaultValue={pairsOf(key?.limits ?? null)}
        />
      </Field>
      <Field label="Expires at the end of, UTC (empty: never)">
        <input name="expires" type="date" defaultValue={dateOf(key?.expires_at)} />
      </Field>
      <div class="inline dialog-actions">
        <Button act={close}>Close</Button>
        <Button kind="primary">{key ? 'Save' : 'Create'}</Button>
      </div>
    </form>
  );
}
