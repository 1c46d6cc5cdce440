import './tooltip.css';
import type { ReactElement } from 'react';
import { Tooltip as AriaTooltip, TooltipTrigger } from 'react-aria-components/Tooltip';

/** A short text for a focusable react-aria element, such as Button, shown on hover or focus. */
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
