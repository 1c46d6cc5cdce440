import './button.css';
import type { ReactElement, ReactNode, Ref } from 'react';
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components/Button';
import { Icon, type IconName } from './icon.tsx';
import { Tooltip } from './tooltip.tsx';

type Look = {
  /**
   * primary: the main action; secondary: other actions; quiet: actions in toolbars and rows; danger: an
   * action that deletes something.
   */
  variant?: 'primary' | 'secondary' | 'quiet' | 'danger';
  size?: 'medium' | 'small';
};

type ButtonProps = Omit<AriaButtonProps, 'children' | 'className'> &
  Look & { children: ReactNode; icon?: IconName; className?: string; ref?: Ref<HTMLButtonElement> };

/** A button. While `isPending` it keeps its position, focus and width, and announces that it is busy. */
export function Button({
  variant = 'secondary',
  size = 'medium',
  icon,
  children,
  className = '',
  ...rest
}: ButtonProps): ReactElement {
  return (
    <AriaButton {...rest} className={`button button-${variant} button-${size} ${className}`}>
      {({ isPending }) => (
        <>
          <span className="button-content">
            {icon && <Icon name={icon} />}
            {children}
          </span>
          {isPending && <span className="button-spinner" aria-hidden="true" />}
        </>
      )}
    </AriaButton>
  );
}

type IconButtonProps = Omit<AriaButtonProps, 'children' | 'className' | 'aria-label'> &
  Look & { icon: IconName; label: string; className?: string; ref?: Ref<HTMLButtonElement> };

/** A button with only an icon. The label is its accessible name and its tooltip. */
export function IconButton({
  icon,
  label,
  variant = 'quiet',
  size = 'medium',
  className = '',
  ...rest
}: IconButtonProps): ReactElement {
  return (
    <Tooltip text={label}>
      <AriaButton
        {...rest}
        aria-label={label}
        className={`button button-icon button-${variant} button-${size} ${className}`}
      >
        <Icon name={icon} />
      </AriaButton>
    </Tooltip>
  );
}
