import { type ReactElement, type RefObject, useState } from 'react';
import { Autocomplete, useFilter } from 'react-aria-components/Autocomplete';
import { Dialog } from 'react-aria-components/Dialog';
import { Header } from 'react-aria-components/Header';
import { Menu, MenuItem, MenuSection } from 'react-aria-components/Menu';
import { Popover } from 'react-aria-components/Popover';
import { SearchField } from '../../design/field.tsx';
import { addElement } from '../editor/commands.ts';
import { useBuilder } from '../editor/use-editor.ts';
import type { Spot } from '../model/places.ts';
import type { PaletteEntry } from '../model/ready-groups.ts';
import { elementGroups, searchWords } from './element-groups.ts';
import { ElementIcon } from './element-icon.tsx';

/** Where the menu opens, and where what is chosen goes; without a spot, behind the selection. */
export type InsertWish = { readonly anchor: RefObject<Element | null>; readonly spot?: Spot | undefined };

/** A searchable list of all element types over the canvas (docs/rules.md B3): type, Enter, and write the label. */
export function InsertMenu({
  wish,
  onClose,
}: {
  wish: InsertWish | undefined;
  onClose: () => void;
}): ReactElement {
  const { editor } = useBuilder();
  const [search, setSearch] = useState('');
  const { contains } = useFilter({ sensitivity: 'base' });
  const close = (): void => {
    setSearch('');
    onClose();
  };
  return (
    <Popover
      className="popover"
      isOpen={wish !== undefined}
      onOpenChange={(open) => !open && close()}
      triggerRef={wish?.anchor ?? { current: null }}
      placement="bottom"
      offset={6}
    >
      <Dialog className="insert-menu" aria-label="Add an element">
        <Autocomplete inputValue={search} onInputChange={setSearch} filter={contains}>
          <SearchField label="Find an element" autoFocus />
          {/* Scrolls by keyboard too, since its items are pointed at from the search box and never focused. */}
          <div className="insert-list" tabIndex={0} role="group" aria-label="All elements">
            <Menu
              className="menu-list"
              aria-label="Elements"
              onAction={(type) => {
                const spot = wish?.spot;
                close();
                afterFocusReturned(() => addElement(editor, type as PaletteEntry, spot));
              }}
              renderEmptyState={() => <p className="insert-empty">No element is called that.</p>}
            >
              {elementGroups.map((group) => (
                <MenuSection key={group.id}>
                  <Header className="menu-heading">{group.title}</Header>
                  {group.entries.map((entry) => (
                    <MenuItem
                      key={entry.id}
                      id={entry.id}
                      textValue={searchWords(entry)}
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
      </Dialog>
    </Popover>
  );
}

/** A menu that closes gives the focus back one frame later; what takes it then has to come after. */
function afterFocusReturned(act: () => void): void {
  requestAnimationFrame(() => requestAnimationFrame(act));
}
