import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useId } from 'react';
import { TextField } from '../../design/field.tsx';
import { type FormPlace, tagsQuery } from '../queries.ts';

/** A text box for tags, which knows those that the form has. */
export function TagField({
  form,
  label,
  description,
  value,
  onChange,
}: {
  form: FormPlace;
  label: string;
  description?: string;
  value: string;
  onChange: (text: string) => void;
}): ReactElement {
  const list = useId();
  const { data = [] } = useQuery(tagsQuery(form));
  return (
    <>
      <TextField
        label={label}
        description={description}
        value={value}
        onChange={onChange}
        list={list}
        autoComplete="off"
      />
      <datalist id={list}>
        {data.map(({ tag }) => (
          <option key={tag} value={tag} />
        ))}
      </datalist>
    </>
  );
}

/** Tags as a person types them: between commas. */
export const tagsIn = (text: string): string[] =>
  text
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
