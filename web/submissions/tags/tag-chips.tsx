import './tags.css';
import type { ReactElement } from 'react';
import { IconButton } from '../../design/button.tsx';

/** The tags of a submission; with `onRemove` each can be taken away. */
export function TagChips({
  tags,
  onRemove,
}: {
  tags: readonly string[];
  onRemove?: (tag: string) => void;
}): ReactElement | null {
  if (tags.length === 0) return null;
  return (
    <span className="tags">
      {tags.map((tag) => (
        <span key={tag} className="chip tag">
          {tag}
          {onRemove && (
            <IconButton
              icon="close"
              size="small"
              label={`Remove the tag ${tag}`}
              onPress={() => onRemove(tag)}
            />
          )}
        </span>
      ))}
    </span>
  );
}
