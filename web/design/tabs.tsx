import './tabs.css';
import { Link, useLocation } from '@tanstack/react-router';
import { type ReactElement, type ReactNode, useEffect, useRef } from 'react';
import { Tabs as AriaTabs, Tab, TabList, TabPanel } from 'react-aria-components/Tabs';
import { Icon, type IconName } from './icon.tsx';

/** Panels of which one is visible at a time. For screens that have their own URLs, use TabLinks. */
export function Tabs<Id extends string>({
  label,
  tabs,
  value,
  onChange,
}: {
  label: string;
  tabs: readonly { id: Id; label: ReactNode; content: ReactNode }[];
  value: Id;
  onChange: (id: Id) => void;
}): ReactElement {
  return (
    <AriaTabs className="tabs" selectedKey={value} onSelectionChange={(key) => onChange(key as Id)}>
      <TabList className="tab-list" aria-label={label}>
        {tabs.map((tab) => (
          <Tab key={tab.id} id={tab.id} className="tab">
            {tab.label}
          </Tab>
        ))}
      </TabList>
      {tabs.map((tab) => (
        <TabPanel key={tab.id} id={tab.id} className="tab-panel">
          {tab.content}
        </TabPanel>
      ))}
    </AriaTabs>
  );
}

type TabLink = {
  to: string;
  label: string;
  icon?: IconName;
  isExact?: boolean;
  /** Other screens that belong to the tab. */
  screens?: readonly string[];
};

/** Links that look like tabs, for navigation between related screens. */
export function TabLinks({ label, links }: { label: string; links: readonly TabLink[] }): ReactElement {
  const list = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  // If the row is wider than the screen, scroll the current tab into view.
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ inline: 'center', block: 'nearest' });
  }, [pathname]);
  return (
    <nav ref={list} aria-label={label} className="tab-list tab-links">
      {links.map(({ to, label: text, icon, isExact = false, screens = [] }) => (
        <Link
          key={to}
          to={to}
          className="tab"
          activeOptions={{ exact: isExact, includeSearch: false }}
          {...(screens.includes(pathname) && { 'aria-current': 'true' })}
        >
          {icon && <Icon name={icon} />}
          {text}
        </Link>
      ))}
    </nav>
  );
}
