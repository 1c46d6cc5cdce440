import './filter-bar.css';
import { Fragment, type ReactElement, type ReactNode, useRef, useState } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import type { Column } from '#submissions/shapes.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { Menu } from '../../design/menu.tsx';
import { useFocusHandover } from '../../design/use-focus-handover.ts';
import {
  beginDraft,
  type ConditionDraft,
  conditionDraftOf,
  type EditableCondition,
  subjectsOf,
  versionSubject,
} from './condition-draft.ts';
import {
  type ConditionGroup,
  describeCondition,
  describeParts,
  type FilterCondition,
  joiners,
} from './conditions.ts';
import { FilterEditor } from './filter-editor.tsx';
import { changePart, countConditions, type Path, readTree, swapJoiners, writeTree } from './filter-tree.ts';

/** More conditions than a person can read. The service accepts 100 comparisons. */
const mostConditions = 20;

/** The version is in no group and has no path. */
const versionKey = 'version';
type Position = Path | typeof versionKey;
const keyOf = (at: Position): string => (typeof at === 'string' ? at : at.join('.'));

type Editing = { at: Position; draft: ConditionDraft; label: string; isQuestionChosen: boolean };

type Props = {
  columns: readonly Column[];
  where: readonly FilterCondition[];
  onChange: (where: readonly FilterCondition[]) => void;
  /** Shown after the chips. */
  children: ReactNode;
};

/** The conditions of the view as chips, with groups of "and" and "or". The open one is edited below them. */
export function FilterBar({ columns, where, onChange, children }: Props): ReactElement {
  const [editing, setEditing] = useState<Editing>();
  const bar = useRef<HTMLDivElement>(null);
  const handOver = useFocusHandover();
  const tree = readTree(where);
  const { root, ungrouped } = tree;
  const focusOn = (selector: string): void =>
    handOver(() => bar.current?.querySelector<HTMLElement>(selector));
  const begin = (at: Path, subject: string): void =>
    setEditing({ at, draft: beginDraft(subject, columns), label: 'New filter', isQuestionChosen: true });
  const close = (): void => {
    const key = editing && keyOf(editing.at);
    focusOn(bar.current?.querySelector(`[data-filter="${key}"]`) ? `[data-filter="${key}"]` : '.filter-add');
    setEditing(undefined);
  };
  const save = (at: Position, condition: EditableCondition): void => {
    setEditing(undefined);
    // A version that becomes another condition is added at the end.
    const path: Path = at === versionKey ? [root.parts.length] : at;
    const withoutVersion = ungrouped.filter(({ on }) => on !== 'version');
    focusOn(`[data-filter="${keyOf(condition.on === 'version' ? versionKey : path)}"]`);
    onChange(
      condition.on === 'version'
        ? writeTree({
            // A condition of a group that becomes the version leaves the group.
            root: changePart(root, path, undefined),
            ungrouped: [...withoutVersion, condition],
          })
        : writeTree({
            root: changePart(root, path, condition),
            ungrouped: at === versionKey ? withoutVersion : ungrouped,
          }),
    );
  };
  const chip = (condition: FilterCondition, at: Position | undefined, onRemove: () => void): ReactElement => {
    const words = describeCondition(condition, columns);
    const isFixed =
      condition.on === 'program' || condition.on === 'counted' || condition.on === 'group' || !at;
    return (
      <span className="filter-chip">
        {isFixed ? (
          <span className="filter-chip-words cut">{words}</span>
        ) : (
          <AriaButton
            className="filter-chip-words cut"
            aria-label={`Edit filter: ${words}`}
            aria-expanded={editing !== undefined && keyOf(editing.at) === keyOf(at)}
            data-filter={keyOf(at)}
            onPress={() =>
              setEditing({
                at,
                draft: conditionDraftOf(condition, columns),
                label: 'Edit filter',
                isQuestionChosen: true,
              })
            }
          >
            {describeParts(condition, columns).map((part, index) => (
              <Fragment key={index}>
                {index > 0 && ' '}
                <span>{part}</span>
              </Fragment>
            ))}
          </AriaButton>
        )}
        <IconButton
          icon="close"
          size="small"
          label={`Remove filter: ${words}`}
          onPress={() => {
            setEditing(undefined);
            focusOn('.filter-add');
            onRemove();
          }}
        />
      </span>
    );
  };
  const subjects = subjectsOf(columns);
  const toItem = (at: Path) => (subject: { id: string; label: string }) => ({
    ...subject,
    onAction: () => begin(at, subject.id),
  });
  const isFull = countConditions(where) >= mostConditions;
  const drawGroup = (group: ConditionGroup, path: Path): ReactElement[] =>
    group.parts.map((part, index) => {
      const at = [...path, index];
      return (
        <Fragment key={`${index} ${describeCondition(part, columns)}`}>
          {index > 0 && <span className="soft small">{joiners[group.op]}</span>}
          {part.on === 'group' ? (
            <span
              role="group"
              aria-label={`Group: ${describeCondition(part, columns)}`}
              className="filter-group"
            >
              {drawGroup(part, at)}
              {!isFull && (
                <Menu
                  items={subjects
                    .filter(({ id }) => id !== versionSubject)
                    .map(toItem([...at, part.parts.length]))}
                >
                  <IconButton icon="add" size="small" label="Add filter to this group" />
                </Menu>
              )}
            </span>
          ) : (
            chip(part, at, () => onChange(writeTree({ ...tree, root: changePart(root, at, undefined) })))
          )}
        </Fragment>
      );
    });
  const end: Path = [root.parts.length];
  const groups = drawGroup(root, []);
  const setJoiner = (op: ConditionGroup['op']): void => {
    if (op !== root.op) onChange(writeTree({ ...tree, root: swapJoiners(root) }));
  };
  return (
    <>
      <div ref={bar} className="filter-chips" role="group" aria-label="Filters">
        {ungrouped.map((condition, index) => (
          <Fragment key={`${index} ${describeCondition(condition, columns)}`}>
            {index > 0 && <span className="soft small">{joiners.all}</span>}
            {chip(condition, condition.on === 'version' ? versionKey : undefined, () =>
              onChange(writeTree({ root, ungrouped: ungrouped.filter((_, other) => other !== index) })),
            )}
          </Fragment>
        ))}
        {ungrouped.length > 0 && groups.length > 0 && <span className="soft small">{joiners.all}</span>}
        {ungrouped.length > 0 && root.op === 'any' && groups.length > 1 ? (
          <span
            role="group"
            aria-label={`Group: ${describeCondition(root, columns)}`}
            className="filter-group"
          >
            {groups}
          </span>
        ) : (
          groups
        )}
        {!isFull && (
          <Menu placement="bottom start" items={subjects.map(toItem(end))}>
            <Button size="small" variant="quiet" icon="filter" className="filter-add">
              Add filter
            </Button>
          </Menu>
        )}
        {root.parts.length > 0 && (
          <Menu
            items={[
              ...(root.parts.length > 1
                ? (['all', 'any'] as const).map((op) => ({
                    id: op,
                    label: op === 'all' ? 'Match all filters (and)' : 'Match any filter (or)',
                    isCurrent: root.op === op,
                    onAction: () => setJoiner(op),
                  }))
                : []),
              {
                id: 'group',
                label: root.op === 'all' ? 'Add a group joined by “or”' : 'Add a group joined by “and”',
                isDisabled: isFull,
                onAction: () =>
                  setEditing({
                    at: [...end, 0],
                    draft: beginDraft(subjects[0]!.id, columns),
                    label: 'New filter in a new group',
                    isQuestionChosen: false,
                  }),
              },
            ]}
          >
            <IconButton icon="more" size="small" label="Match and group filters" />
          </Menu>
        )}
        {children}
      </div>
      {editing && (
        <FilterEditor
          key={`${keyOf(editing.at)} ${editing.draft.subject}`}
          label={editing.label}
          columns={columns}
          begin={editing.draft}
          isQuestionChosen={editing.isQuestionChosen}
          onClose={close}
          onSave={(condition) => save(editing.at, condition)}
        />
      )}
    </>
  );
}
