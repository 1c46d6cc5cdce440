import './palette.css';
import { memo, type ReactElement, useState } from 'react';
import { SearchField } from '../../design/field.tsx';
import type { StartDrag } from '../canvas/drag/use-drag.ts';
import { addElement } from '../editor/commands.ts';
import { useBuilder } from '../editor/use-editor.ts';
import { elementGroups, searchWords } from './element-groups.ts';
import { ElementIcon } from './element-icon.tsx';

/** Every element type: a press adds one behind the selection, a drag puts one where it is dropped. */
export const Palette = memo(function Palette({ onDrag }: { onDrag: StartDrag }): ReactElement {
  const { editor } = useBuilder();
  const [search, setSearch] = useState('');
  const wanted = search.trim().toLowerCase();
  const groups = elementGroups
    .map((group) => ({
      ...group,
      entries: group.entries.filter((entry) => searchWords(entry).includes(wanted)),
    }))
    .filter(({ entries }) => entries.length > 0);
  return (
    <div className="palette">
      <SearchField label="Find an element" placeholder="Search" value={search} onChange={setSearch} />
      {groups.map(({ id, title, entries }) => (
        <section key={id} aria-label={title}>
          <h2 className="pane-heading">{title}</h2>
          <ul role="list" className="palette-list">
            {entries.map((entry) => (
              <li key={entry.id}>
                <button
                  type="button"
                  className="palette-item"
                  onClick={() => addElement(editor, entry.id)}
                  onPointerDown={(event) =>
                    event.pointerType !== 'touch' && onDrag({ kind: 'add', type: entry.id }, event)
                  }
                >
                  <ElementIcon type={entry.id} />
                  {entry.title}
                </button>
              </li>
            ))}
          </ul>
        </section>
      ))}
      {groups.length === 0 && <p className="soft">No element is called that.</p>}
    </div>
  );
});
