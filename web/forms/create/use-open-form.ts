import { useNavigate } from '@tanstack/react-router';

/** Opens a created form in the builder. */
export function useOpenForm(): (made: { id: string }) => Promise<void> {
  const navigate = useNavigate();
  return ({ id }) => navigate({ to: '/forms/$form', params: { form: id } });
}
