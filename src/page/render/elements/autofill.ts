import type { Field } from './place.ts';

/** HTML autofill tokens by what authors call the element, without case, `-` and `_`. */
const tokens: Readonly<Record<string, string>> = {
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

/**
 * The `autocomplete` of a field about the person who fills it in (WCAG 2.2, 1.3.5): `known` by its type, or
 * found by its id. Rows have none: they are about several people, and a browser would repeat the same one.
 */
export function autofillOf({ element, place }: Field, known?: string): string | undefined {
  if (place.row) return undefined;
  const id = element.attrs.id.toLowerCase().replaceAll(/[-_]/g, '');
  return known ?? (Object.hasOwn(tokens, id) ? tokens[id] : undefined);
}
