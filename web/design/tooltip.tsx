import './tooltip.css';
import type { ReactElement } from 'react';
import { Tooltip as AriaTooltip, TooltipTrigger } from 'react-aria-components/Tooltip';

/** A short text beside a focusable element (a react-aria one, such as Button) while it has the pointer or the focus. */
export function Tooltip({ text, children }: { text: string; children: ReactElement }): ReactElement {
  return (
    <TooltipTrigger delay={500} closeDelay={0}>
      {children}
      <AriaTooltip offset={6} className="tooltip">
        {text}
      </AriaTooltip>
    </TooltipTrigger>
  );
}
