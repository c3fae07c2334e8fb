interface Common {
  /** One line for people; ends up in `config:print`, `switchyard.yaml` and the manual. */
  readonly help: string;
}

export interface IntegerSetting extends Common {
  readonly type: 'integer';
  readonly default: number;
  readonly min: number;
  readonly max: number;
  readonly unit?: 'ms' | 'bytes';
}

export interface NumberSetting extends Common {
  readonly type: 'number';
  readonly default: number;
  readonly min: number;
  readonly max: number;
}

export interface BooleanSetting extends Common {
  readonly type: 'boolean';
  readonly default: boolean;
}

export interface TextSetting extends Common {
  readonly type: 'text';
  /** A setting that is empty by default may be emptied; any other may not. */
  readonly default: string;
}

export interface ChoiceSetting extends Common {
  readonly type: 'choice';
  readonly default: string;
  readonly values: readonly string[];
}

export type SettingDefinition = IntegerSetting | NumberSetting | BooleanSetting | TextSetting | ChoiceSetting;
export type SettingValue = string | number | boolean;

/** The type a definition's values have once compiled. */
export type ValueOf<D extends SettingDefinition> = D extends { values: readonly (infer V)[] }
  ? V
  : D extends { type: 'integer' | 'number' }
    ? number
    : D extends { type: 'boolean' }
      ? boolean
      : string;

/** What a value may be, in words: used by error messages, `config:print` and the manual. */
export function allowedValues(definition: SettingDefinition): string {
  switch (definition.type) {
    case 'integer':
      return `${definition.min} to ${definition.max}${definition.unit ? ` ${definition.unit}` : ''}, whole`;
    case 'number':
      return `${definition.min} to ${definition.max}`;
    case 'boolean':
      return 'true or false';
    case 'choice':
      return definition.values.join(', ');
    case 'text':
      return definition.default === '' ? 'text' : 'text, not empty';
  }
}
