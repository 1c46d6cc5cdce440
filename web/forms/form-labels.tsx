import './form-labels.css';
import { Link } from '@tanstack/react-router';
import { type ReactElement, type ReactNode, useRef } from 'react';
import { Button } from 'react-aria-components/Button';
import { useDrag } from 'react-aria-components/useDrag';
import { useDrop } from 'react-aria-components/useDrop';
import { formatCount } from '#ast/basics/format-number.ts';
import { refetchChangedQueries } from '../api/changes.ts';
import { type ChangePrecondition, callOperation } from '../api/operations.ts';
import { type ActionOptions, useAction } from '../design/action.tsx';
import { Icon } from '../design/icon.tsx';
import { TagsDialog } from '../design/tags.tsx';
import { type FormActivityRow, parseFormListView } from './forms-query.ts';

type LabelChange = { forms: readonly FormActivityRow[]; add: readonly string[]; remove: readonly string[] };

/** Adds labels to forms and removes others, one form after the other, with Undo. */
function useLabeling(
  workspaceId: string,
  options: Pick<ActionOptions<unknown, LabelChange>, 'onDone' | 'problem'>,
) {
  const set = (seen: ChangePrecondition & { id: string }, labels: string[]) =>
    callOperation(workspaceId, 'changeForm', { params: { id: seen.id }, body: { labels } }, { seen });
  return useAction({
    async run({ forms, add, remove }: LabelChange) {
      const removed = new Set(remove.map((label) => label.toLowerCase()));
      const undo: (() => Promise<unknown>)[] = [];
      for (const form of forms) {
        const kept = form.labels.filter((label) => !removed.has(label.toLowerCase()));
        const changed = await set(form, [...kept, ...add]);
        undo.push(() => set(changed, form.labels));
      }
      return undo;
    },
    done: (undo) => ({
      text: `The labels of ${formatCount(undo.length, 'form')} were changed.`,
      action: {
        label: 'Undo',
        async run() {
          await Promise.all(undo.map((restore) => restore()));
          await refetchChangedQueries();
        },
      },
    }),
    ...options,
  });
}

type Label = { readonly label: string; readonly count: number };

/** Adds labels to the chosen forms, or removes them. */
export function LabelDialog({
  workspaceId,
  forms,
  labels,
  onClose,
  onDone,
}: {
  workspaceId: string;
  forms: readonly FormActivityRow[];
  labels: readonly Label[];
  onClose: () => void;
  onDone: () => void;
}): ReactElement {
  const labeling = useLabeling(workspaceId, { onDone });
  return (
    <TagsDialog
      title={`Label ${formatCount(forms.length, 'form')}`}
      noun="labels"
      suggestions={labels.map(({ label }) => label)}
      action={{ ...labeling, mutate: (change) => labeling.mutate({ forms, ...change }) }}
      onClose={onClose}
    />
  );
}

/** The type of dragged forms. Its data is the ID of a form. */
const dragType = 'application/x-formloom-form';

/** Drags a form, or the selected forms if it is one of them, with the mouse or by keyboard. */
export function DraggableForm({
  name,
  ids,
  children,
}: {
  name: string;
  ids: readonly string[];
  children: ReactNode;
}): ReactElement {
  const { dragProps, dragButtonProps, isDragging } = useDrag({
    hasDragButton: true,
    getAllowedDropOperations: () => ['copy'],
    getItems: () => ids.map((id) => ({ [dragType]: id })),
  });
  return (
    <div {...dragProps} className="draggable-form" data-dragging={isDragging || undefined}>
      <Button {...dragButtonProps} className="drag-handle" aria-label={`Drag ${name} to a label`}>
        <Icon name="drag" />
      </Button>
      {children}
    </div>
  );
}

type LabelLinkProps = {
  label: string | undefined;
  count?: number;
  isCurrent: boolean;
  onDrop?: (ids: readonly string[]) => void;
};

function LabelLink({ label, count, isCurrent, onDrop }: LabelLinkProps): ReactElement {
  const link = useRef<HTMLAnchorElement>(null);
  const { dropProps, isDropTarget } = useDrop({
    ref: link,
    isDisabled: !onDrop,
    getDropOperation: (types) => (types.has(dragType) ? 'copy' : 'cancel'),
    onDrop({ items }) {
      const texts = items.map(async (item) => (item.kind === 'text' ? item.getText(dragType) : ''));
      void Promise.all(texts).then(onDrop);
    },
  });
  return (
    <Link
      {...dropProps}
      ref={link}
      to="."
      search={(view: Record<string, unknown>) => ({ ...parseFormListView(view), label, page: undefined })}
      replace
      resetScroll={false}
      activeOptions={{ exact: true }}
      className="label-link"
      {...(isCurrent && { 'aria-current': 'true' })}
      data-drop={isDropTarget || undefined}
    >
      <span className="cut">{label ?? 'All forms'}</span>
      {count !== undefined && (
        <span className="numeric">
          {count.toLocaleString()}
          <span className="unseen">{count === 1 ? ' form' : ' forms'}</span>
        </span>
      )}
    </Link>
  );
}

/** The labels of forms: each filters the list, and forms can be dropped on it. */
export function LabelLinks({
  workspaceId,
  labels,
  current,
  forms,
}: {
  workspaceId: string;
  labels: readonly Label[];
  current: string | undefined;
  /** The forms that can be dropped. */
  forms: readonly FormActivityRow[];
}): ReactElement {
  const labeling = useLabeling(workspaceId, { problem: 'toast' });
  const addTo = (label: string, ids: readonly string[]): void =>
    labeling.mutate({ forms: forms.filter(({ id }) => ids.includes(id)), add: [label], remove: [] });
  const sorted = labels.toSorted((one, other) => one.label.localeCompare(other.label));
  return (
    <nav className="label-links" aria-label="Labels">
      <LabelLink label={undefined} isCurrent={current === undefined} />
      {sorted.map(({ label, count }) => (
        <LabelLink
          key={label}
          label={label}
          count={count}
          isCurrent={label === current}
          onDrop={(ids) => addTo(label, ids)}
        />
      ))}
    </nav>
  );
}
