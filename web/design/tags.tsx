import './tags.css';
import { type ReactElement, useId, useState } from 'react';
import type { Action } from './action.tsx';
import { IconButton } from './button.tsx';
import { TextField } from './field.tsx';
import { FormDialog } from './form-dialog.tsx';

type TagChipsProps = { tags: readonly string[]; onRemove?: (tag: string) => void };

/** The tags of a submission, or the labels of a form. With `onRemove`, each can be removed. */
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

/** A text box for tags that suggests those in use. */
export function TagField({
  label,
  description,
  value,
  suggestions,
  onChange,
}: {
  label: string;
  description?: string;
  value: string;
  suggestions: readonly string[];
  onChange: (text: string) => void;
}): ReactElement {
  const list = useId();
  return (
    <>
      <TextField label={label} description={description} value={value} onChange={onChange} list={list} />
      <datalist id={list}>
        {suggestions.map((tag) => (
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

/** Adds tags to many things, or removes them. `noun` is the plural word: tags or labels. */
export function TagsDialog({
  title,
  noun,
  suggestions,
  action,
  onClose,
}: {
  title: string;
  noun: 'tags' | 'labels';
  suggestions: readonly string[];
  action: Pick<Action, 'error' | 'isPending' | 'unlocated'> & {
    mutate: (change: { add: string[]; remove: string[] }) => void;
  };
  onClose: () => void;
}): ReactElement {
  const [added, setAdded] = useState('');
  const [removed, setRemoved] = useState('');
  const change = { add: tagsIn(added), remove: tagsIn(removed) };
  const isEmpty = change.add.length + change.remove.length === 0;
  return (
    <FormDialog
      title={title}
      onClose={onClose}
      onSubmit={() => !isEmpty && action.mutate(change)}
      submitLabel={title}
      isDisabled={isEmpty}
      action={action}
      error={action.error?.message}
    >
      <TagField
        label={`Add ${noun}`}
        description={`Separate ${noun} with commas.`}
        value={added}
        suggestions={suggestions}
        onChange={setAdded}
      />
      <TagField label={`Remove ${noun}`} value={removed} suggestions={suggestions} onChange={setRemoved} />
    </FormDialog>
  );
}
