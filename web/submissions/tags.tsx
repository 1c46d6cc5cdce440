import './tags.css';
import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useId } from 'react';
import { IconButton } from '../design/button.tsx';
import { TextField } from '../design/field.tsx';
import { type FormLocation, tagsQuery } from './queries.ts';

type TagChipsProps = { tags: readonly string[]; onRemove?: (tag: string) => void };

/** The tags of a submission. With `onRemove`, each can be removed. */
export function TagChips({ tags, onRemove }: TagChipsProps): ReactElement | null {
  if (tags.length === 0) return null;
  return (
    <span className="tags">
      {tags.map((tag) => (
        <span key={tag} className="chip tag">
          {tag}
          {onRemove && (
            <IconButton icon="close" size="small" label={`Remove tag ${tag}`} onPress={() => onRemove(tag)} />
          )}
        </span>
      ))}
    </span>
  );
}

/** A text box for tags that suggests the form's tags. */
export function TagField({
  form,
  label,
  description,
  value,
  onChange,
}: {
  form: FormLocation;
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

/** Splits typed tags at commas. */
export const tagsIn = (text: string): string[] =>
  text
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
