import { useSignal } from '@preact/signals';
import { post, request } from '../../api/client';
import { go, href } from '../../router';
import { attempt, Dialog } from '../../ui/actions';
import { bound, Button, Drop, Select } from '../../ui/controls';
import { count, plural } from '../../ui/format';
import { type Checked, checkBatchFile } from './check-file';

const WINDOWS = ['1h', '6h', '24h', '3d', '7d'];

/** A file is checked here before a byte of it is sent. */
export function SubmitDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} wide title="Submit a batch" onClose={onClose}>
      <Form onClose={onClose} />
    </Dialog>
  );
}

function Form({ onClose }: { onClose: () => void }) {
  const file = useSignal<File | undefined>(undefined);
  const checked = useSignal<Checked | undefined>(undefined);
  const window = useSignal('24h');
  const busy = useSignal(false);
  const choose = async (chosen: File) => {
    file.value = chosen;
    checked.value = undefined;
    checked.value = await checkBatchFile(chosen);
  };
  const submit = async () => {
    const { value: chosen } = file;
    const endpoint = checked.value?.endpoint;
    if (!chosen || !endpoint) return;
    busy.value = true;
    let id = '';
    const act = async () => {
      const form = new FormData();
      form.set('purpose', 'batch');
      form.set('file', chosen, chosen.name);
      const uploaded = (await (
        await request('/v1/files', { method: 'POST', body: form })
      ).json()) as { id: string };
      const body = {
        input_file_id: uploaded.id,
        endpoint,
        completion_window: window.value,
      };
      id = ((await post('/v1/batches', { body })) as { id: string }).id;
    };
    const done = await attempt(act, 'The batch is submitted.');
    busy.value = false;
    if (!done) return;
    onClose();
    go(href('batches', id));
  };
  return (
    <div class="stack">
      <Drop
        file={file.value}
        choose={chosen => void choose(chosen)}
        prompt="Drop a .jsonl file here, or choose one"
        hint="One request per line: custom_id, method, url, body"
        accept=".jsonl,.ndjson,application/jsonl"
      />
      {file.value && <Verdict of={checked.value} />}
      <Select label="Complete within" of={WINDOWS} {...bound(window)} />
      <div class="inline dialog-actions">
        <Button act={onClose}>Close</Button>
        <Button
          kind="primary"
          disabled={busy.value || !checked.value?.endpoint || checked.value.problems.length > 0}
          act={submit}
        >
          {busy.value ? 'Sending' : 'Submit'}
        </Button>
      </div>
    </div>
  );
}

function Verdict({ of }: { of: Checked | undefined }) {
  if (!of) return <p role="status">Checking</p>;
  const { lines, endpoint, problems, isWhole } = of;
  return (
    <div role="status" class="stack">
      {problems.length === 0 ? (
        <p class="state good wrap">
          {isWhole ? plural(lines, 'request') : `The first ${count(lines)} lines are valid`} for{' '}
          {endpoint}.
        </p>
      ) : (
        <ul class="stack">
          {problems.map(({ line, message }) => (
            <li key={`${line} ${message}`}>
              <span class="state bad wrap">
                Line {count(line)}: {message}
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
