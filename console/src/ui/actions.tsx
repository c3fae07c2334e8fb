import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Button } from './controls';
import { Icon } from './icons';

interface Notice {
  readonly id: number;
  readonly text: string;
  readonly tone: 'good' | 'bad';
}

const notices = signal<readonly Notice[]>([]);
let lastId = 0;

export function notify(text: string, tone: Notice['tone'] = 'good'): void {
  const id = ++lastId;
  notices.value = [...notices.value.slice(-3), { id, text, tone }];
  setTimeout(() => dismiss(id), tone === 'bad' ? 12_000 : 5000);
}

const dismiss = (id: number): void =>
  void (notices.value = notices.value.filter(each => each.id !== id));

/** What happened because of a click; read out. */
export const Notices = () => (
  <div class="notices" role="status" aria-live="polite">
    {notices.value.map(({ id, text, tone }) => (
      <div key={id} class={`notice ${tone}`}>
        <Icon name={tone === 'good' ? 'check' : 'alert'} size={16} />
        <span>{text}</span>
        <Button kind="quiet" aria-label="Dismiss" act={() => dismiss(id)}>
          <Icon name="close" size={14} />
        </Button>
      </div>
    ))}
  </div>
);

/** Runs an action and says how it ended. @returns false when it failed */
export async function attempt(
  act: () => Promise<unknown>,
  done: string | (() => string),
): Promise<boolean> {
  try {
    await act();
    notify(typeof done === 'string' ? done : done());
    return true;
  } catch (error) {
    notify((error as Error).message, 'bad');
    return false;
  }
}

interface Question {
  readonly title: string;
  readonly text: ComponentChildren;
  readonly verb: string;
  readonly answer: (yes: boolean) => void;
}

const question = signal<Question | undefined>(undefined);

/** Asks once before something that cannot be taken back. */
const confirmed = (title: string, text: ComponentChildren, verb: string): Promise<boolean> =>
  new Promise(answer => (question.value = { title, text, verb, answer }));

/**
 * Runs an action that cannot be taken back, if the answer is yes. @returns whether
 * it was done
 */
export const attemptConfirmed = async (
  [title, text, verb]: readonly [title: string, text: ComponentChildren, verb: string],
  act: () => Promise<unknown>,
  done: string | (() => string),
): Promise<boolean> => (await confirmed(title, text, verb)) && attempt(act, done);

export function ConfirmDialog() {
  const asked = question.value;
  const close = (yes: boolean) => {
    asked?.answer(yes);
    question.value = undefined;
  };
  return (
    <Dialog open={asked !== undefined} title={asked?.title ?? ''} onClose={() => close(false)}>
      <div class="dialog-text">{asked?.text}</div>
      <div class="inline dialog-actions">
        <Button act={() => close(false)}>Back</Button>
        <Button kind="danger" act={() => close(true)}>
          {asked?.verb}
        </Button>
      </div>
    </Dialog>
  );
}

interface DialogProps {
  readonly open: boolean;
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly wide?: boolean;
}

/** The browser's own modal dialog: it keeps the focus and closes by Escape. */
export function Dialog({ open, title, onClose, children, wide }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current;
    if (open && !dialog?.open) dialog?.showModal();
    if (!open && dialog?.open) dialog.close();
  }, [open]);
  return (
    <dialog
      ref={element}
      class={wide ? 'wide' : ''}
      aria-label={title || 'Dialog'}
      onClose={() => open && onClose()}
    >
      {open && (
        <>
          <h2>{title}</h2>
          {children}
        </>
      )}
    </dialog>
  );
}
