import { createContext, type ReactNode, type ReactPortal, useContext } from 'react';
import { createPortal } from 'react-dom';

/** The element at the end of a form's header, once it is in the page. */
export const FormHeaderSlot = createContext<HTMLElement | null>(null);

/** Renders a screen's buttons and status at the end of the form's header. */
export function FormHeaderActions({ children }: { children: ReactNode }): ReactPortal | null {
  const place = useContext(FormHeaderSlot);
  return place && createPortal(children, place);
}
