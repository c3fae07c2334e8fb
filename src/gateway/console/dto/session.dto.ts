import { KEY_SCOPES } from '../../../platform/auth/principal.js';
import {
  fieldOf,
  flagField,
  listField,
  choiceField,
  optionalField,
  textField,
  answer,
} from '../../http/openapi/answer.js';

class ConsoleLinksDto extends answer({
  trace: textField('`console.trace_url`; may be empty.'),
  manual: textField('`console.manual_url`; may be empty.'),
}) {}

export class ConsoleSessionDto extends answer({
  keys_required: flagField('Whether the server asks for keys at all.'),
  signed_in: Boolean,
  tenant: textField('Whose data is shown; empty when not signed in.'),
  scopes: listField(choiceField<string>(KEY_SCOPES)),
  links: optionalField(fieldOf(ConsoleLinksDto, 'Links to other servers, for the scope admin.')),
}) {}
