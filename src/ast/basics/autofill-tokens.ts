import { defaults } from './defaults.ts';

/** What a browser knows of the person before it (HTML, "autofill"): the tokens that a form may ask it for. */
export const autofillTokens = [
  'name',
  'honorific-prefix',
  'given-name',
  'additional-name',
  'family-name',
  'nickname',
  'organization',
  'organization-title',
  'email',
  'tel',
  'url',
  'street-address',
  'address-line1',
  'address-line2',
  'address-level1',
  'address-level2',
  'postal-code',
  'country-name',
  'bday',
  'language',
] as const;

/** Values of the attribute `autocomplete`: `auto` is a guess by the type and the id. */
export const autofillChoices = [defaults.autocomplete, 'off', ...autofillTokens] as const;
