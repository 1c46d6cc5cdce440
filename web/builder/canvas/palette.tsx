import { memo, type ReactElement, type RefObject, useState } from 'react';
import { Autocomplete, useFilter } from 'react-aria-components/Autocomplete';
import { Dialog } from 'react-aria-components/Dialog';
import { Header } from 'react-aria-components/Header';
import { Menu, MenuItem, MenuSection } from 'react-aria-components/Menu';
import { Popover } from 'react-aria-components/Popover';
import { Toolbar } from 'react-aria-components/Toolbar';
import { afterFocusReturned, Dialog as Sheet } from '../../design/dialog.tsx';
import { SearchField } from '../../design/field.tsx';
import { useNarrow } from '../../design/use-window.ts';
import { addElement } from '../editor/commands.ts';
import { useBuilder } from '../editor/use-editor.ts';
import { elementGroups, iconOfPaletteEntry, searchTextOfEntry } from '../model/element-groups.ts';
import type { PaletteEntry } from '../model/new-element.ts';
import type { Spot } from '../model/node-positions.ts';
import './palette.css';
import type { StartDrag } from './drag.ts';

/** The icon of a type beside its name, hidden from screen readers. */
export function ElementIcon({ type }: { type: PaletteEntry }): ReactElement {
  return (
    <svg className="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <path d={iconOfPaletteEntry(type)} />
    </svg>
  );
}

/**
 * Where the menu opens, and where the chosen element is added. Without a spot, it is added after the
 * selection.
 */
export type InsertRequest = { readonly anchor: RefObject<Element | null>; readonly spot?: Spot | undefined };

type InsertProps = { readonly request: InsertRequest | undefined; readonly onClose: () => void };

const title = 'Add element';

/**
 * A searchable list of all element types, shown over the canvas (docs/rules.md B3): type, press Enter, and
 * write the label.
 */
export function InsertMenu({ request, onClose }: InsertProps): ReactElement {
  // An on-screen keyboard would cover the list.
  if (useNarrow())
    return (
      <Sheet title={title} isOpen={request !== undefined} onClose={onClose} size="medium" keepsText>
        <InsertList spot={request?.spot} onClose={onClose} />
      </Sheet>
    );
  return (
    <Popover
      className="popover"
      isOpen={request !== undefined}
      onOpenChange={(open) => !open && onClose()}
      triggerRef={request?.anchor ?? { current: null }}
      placement="bottom"
      offset={6}
    >
      <Dialog className="insert-menu" aria-label={title}>
        <InsertList spot={request?.spot} onClose={onClose} autoFocus />
      </Dialog>
    </Popover>
  );
}

type ListProps = {
  readonly spot: Spot | undefined;
  readonly onClose: () => void;
  readonly autoFocus?: boolean;
};

function InsertList({ spot, onClose, autoFocus = false }: ListProps): ReactElement {
  const { editor } = useBuilder();
  const [search, setSearch] = useState('');
  const { contains } = useFilter({ sensitivity: 'base' });
  return (
    <Autocomplete inputValue={search} onInputChange={setSearch} filter={contains}>
      <SearchField label="Search elements" autoFocus={autoFocus} />
      {/* Focusable, so that it scrolls by keyboard. Focus on its items stays in the search box. */}
      <div className="insert-list" tabIndex={0} role="group" aria-label="All elements">
        <Menu
          className="menu-list"
          aria-label="Elements"
          onAction={(type) => {
            onClose();
            afterFocusReturned(() => addElement(editor, type as PaletteEntry, spot));
          }}
          renderEmptyState={() => <p className="insert-empty">No matching elements</p>}
        >
          {elementGroups.map((group) => (
            <MenuSection key={group.id}>
              <Header className="menu-heading">{group.title}</Header>
              {group.entries.map((entry) => (
                <MenuItem
                  key={entry.id}
                  id={entry.id}
                  textValue={searchTextOfEntry(entry)}
                  className="menu-item"
                >
                  <ElementIcon type={entry.id} />
                  {entry.title}
                </MenuItem>
              ))}
            </MenuSection>
          ))}
        </Menu>
      </div>
    </Autocomplete>
  );
}

/**
 * Lists every element type. A press adds one after the selection, and a drag adds one where it is dropped.
 */
export const Palette = memo(function Palette({ onDrag }: { onDrag: StartDrag }): ReactElement {
  const { editor } = useBuilder();
  const [search, setSearch] = useState('');
  const wanted = search.trim().toLowerCase();
  const groups = elementGroups
    .map((group) => ({
      ...group,
      entries: group.entries.filter((entry) => searchTextOfEntry(entry).includes(wanted)),
    }))
    .filter(({ entries }) => entries.length > 0);
  return (
    <div className="palette">
      <SearchField label="Search elements" placeholder="Search" value={search} onChange={setSearch} />
      {/* One Tab stop: the arrow keys move between the elements. */}
      <Toolbar orientation="vertical" aria-label="Elements" className="palette-groups">
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
      </Toolbar>
      {groups.length === 0 && <p className="soft">No matching elements</p>}
    </div>
  );
});
