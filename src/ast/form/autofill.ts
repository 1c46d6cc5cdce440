import type { autofillChoices, autofillTokens } from '../basics/autofill-tokens.ts';
import { attributeDefaults } from '../basics/defaults.ts';
import type { InputRules } from '../types/rules.ts';
import { inputRules } from './input-rules.ts';
import type { InputElement } from './tree.ts';

type Token = (typeof autofillTokens)[number];

/** Tokens by element ID, in lower case without `-` and `_`. */
const byId: Readonly<Record<string, Token>> = {
  name: 'name',
  fullname: 'name',
  yourname: 'name',
  firstname: 'given-name',
  givenname: 'given-name',
  lastname: 'family-name',
  familyname: 'family-name',
  surname: 'family-name',
  company: 'organization',
  organisation: 'organization',
  organization: 'organization',
  jobtitle: 'organization-title',
  street: 'address-line1',
  addressline1: 'address-line1',
  addressline2: 'address-line2',
  city: 'address-level2',
  town: 'address-level2',
  zip: 'postal-code',
  zipcode: 'postal-code',
  postcode: 'postal-code',
  postalcode: 'postal-code',
  country: 'country-name',
  birthday: 'bday',
  birthdate: 'bday',
  dateofbirth: 'bday',
};

/** IDs and labels that ask for another person's email or phone. Autofill would enter the visitor's. */
const others =
  /(?:^|[^a-z])(?:friend|guest|child|kid|son|daughter|spouse|partner|wife|husband|mother|father|parent|guardian|sibling|brother|sister|colleague|manager|boss|supervisor|employer|emergency|recipient|referee|reference|witness|doctor|customer|client|invitee|participant|attendee|second|other)/i;

/**
 * Returns the autofill token of an input (WCAG 2.2, 1.3.5), or undefined if nothing indicates that it asks
 * for the visitor's own data.
 */
export function autofillOf({ type, attrs }: InputElement): Token | 'off' | undefined {
  const { autocomplete = attributeDefaults.autocomplete } = attrs as {
    autocomplete?: (typeof autofillChoices)[number];
  };
  if (autocomplete !== attributeDefaults.autocomplete) return autocomplete;
  const { autofill: typed }: InputRules = inputRules[type];
  if (typed) return others.test(attrs.id) || others.test(attrs.label) ? undefined : typed;
  const id = attrs.id.toLowerCase().replaceAll(/[-_]/g, '');
  return Object.hasOwn(byId, id) ? byId[id] : undefined;
}
