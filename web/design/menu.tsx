import './menu.css';
import type { ReactElement } from 'react';
import { Header } from 'react-aria-components/Header';
import { Menu as AriaMenu, MenuItem, MenuSection, MenuTrigger } from 'react-aria-components/Menu';
import { Popover } from 'react-aria-components/Popover';
import { Separator } from 'react-aria-components/Separator';
import { PipedText } from './author-text.tsx';
import { Icon, type IconName } from './icon.tsx';

export type MenuAction =
  | {
      id: string;
      label: string;
      icon?: IconName;
      description?: string;
      /** The keyboard shortcut, as printed on the keys. */
      press?: string;
      /**
       * Runs when the item is chosen. For pages, set `href` instead (a path within /app, as the router writes
       * it: `/account`).
       */
      onAction?: () => void;
      href?: string;
      isDanger?: boolean;
      isDisabled?: boolean;
      /** Marks the current item with a check mark. */
      isCurrent?: boolean;
    }
  | { id: string; separator: true }
  | { id: string; heading: string; items: readonly MenuAction[] };

/**
 * A menu that a button opens (a Button or an IconButton as the only child). The button also names the menu.
 * Arrow keys move, typing finds an item, Escape closes.
 */
export function Menu({
  items,
  children,
  placement = 'bottom end',
}: {
  items: readonly MenuAction[];
  children: ReactElement;
  placement?: 'bottom start' | 'bottom end' | 'top start';
}): ReactElement {
  return (
    <MenuTrigger>
      {children}
      <Popover className="popover" placement={placement} offset={4}>
        <AriaMenu className="menu-list">{items.map(drawItem)}</AriaMenu>
      </Popover>
    </MenuTrigger>
  );
}

function drawItem(item: MenuAction): ReactElement {
  if ('separator' in item) return <Separator key={item.id} className="menu-separator" />;
  if ('heading' in item)
    return (
      <MenuSection key={item.id} className="menu-section">
        <Header className="menu-heading">{item.heading}</Header>
        {item.items.map(drawItem)}
      </MenuSection>
    );
  const { id, label, icon, description, press, onAction, href, isDanger, isDisabled, isCurrent } = item;
  return (
    <MenuItem
      key={id}
      id={id}
      textValue={label}
      onAction={onAction}
      href={href}
      isDisabled={isDisabled}
      className={`menu-item${isDanger ? ' menu-item-danger' : ''}`}
    >
      {icon && <Icon name={icon} />}
      <span className="menu-item-text">
        <span>
          <PipedText text={label} />
        </span>
        {description && <span className="menu-item-description">{description}</span>}
      </span>
      {press !== undefined && <kbd className="menu-item-press">{press}</kbd>}
      {isCurrent && (
        <span className="menu-item-check">
          <Icon name="check" />
          <span className="unseen">current</span>
        </span>
      )}
    </MenuItem>
  );
}
