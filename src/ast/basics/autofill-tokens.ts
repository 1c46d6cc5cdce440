import { attributeDefaults } from './defaults.ts';

/** The autofill tokens of HTML that an element can use. */
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

/** Values of `autocomplete`. `auto` guesses from the type and the ID. */
export const autofillChoices = [attributeDefaults.autocomplete, 'off', ...autofillTokens] as const;
