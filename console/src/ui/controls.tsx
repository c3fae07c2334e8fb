import { type Signal, useSignal } from '@preact/signals';
import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import { bytes } from './format';
import { Icon } from './icons';

interface ButtonProps extends Omit<
  ButtonHTMLAttributes<HTMLButtonElement>,
  'onClick' | 'class' | 'type'
> {
  /** Absent: it submits its form. */
  readonly act?: () => unknown;
  readonly kind?: 'primary' | 'danger' | 'quiet';
}

export const Button = ({ act, kind, ...rest }: ButtonProps) => (
  <button
    type={act ? 'button' : 'submit'}
    class={kind}
    onClick={act && (() => void act())}
    {...rest}
  />
);

export type Option = string | readonly [value: string, name: string, isDisabled?: boolean];

interface SelectProps {
  readonly label: string;
  readonly value: string;
  readonly of: readonly Option[];
  readonly onChange: (value: string) => void;
  /** The label is read out only. */
  readonly bare?: boolean;
}

export function Select({ label, value, of, onChange, bare }: SelectProps) {
  const select = (
    <select
      aria-label={bare ? label : undefined}
      value={value}
      onChange={event => onChange(event.currentTarget.value)}
    >
      {of.map(option => {
        const [key, name, isDisabled] = typeof option === 'string' ? [option, option] : option;
        return (
          <option key={key} value={key} disabled={isDisabled}>
            {name}
          </option>
        );
      })}
    </select>
  );
  return bare ? select : <Field label={label}>{select}</Field>;
}

/** What a control needs to show and change a signal. */
export const bound = <T extends string>(signal: Signal<T>) => ({
  value: signal.value,
  onChange: (value: string) => void (signal.value = value as T),
});

export const Field = ({
  label,
  children,
}: {
  label: ComponentChildren;
  children: ComponentChildren;
}) => (
  <label class="field">
    {label}
    {children}
  </label>
);

interface DropProps {
  readonly file: File | undefined;
  readonly choose: (file: File) => void;
  readonly prompt: string;
  readonly hint?: string;
  /** As of an input. */
  readonly accept: string;
}

/** A file, dropped or chosen. */
export function Drop({ file, choose, prompt, hint, accept }: DropProps) {
  const over = useSignal(false);
  const drag = (isOver: boolean) => (event: Event) => {
    event.preventDefault();
    over.value = isOver;
  };
  return (
    <label
      class={`drop ${over.value ? 'over' : ''}`}
      onDragOver={drag(true)}
      onDragLeave={drag(false)}
      onDrop={event => {
        drag(false)(event);
        const [dropped] = event.dataTransfer?.files ?? [];
        if (dropped) choose(dropped);
      }}
    >
      <Icon name="upload" size={24} />
      <span>{file ? `${file.name}, ${bytes(file.size)}` : prompt}</span>
      {hint && <span class="muted">{hint}</span>}
      <input
        class="visually-hidden"
        type="file"
        accept={accept}
        onChange={event => event.currentTarget.files?.[0] && choose(event.currentTarget.files[0])}
      />
    </label>
  );
}
