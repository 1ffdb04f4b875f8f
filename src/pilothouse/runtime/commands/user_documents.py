"""Commands about the small documents of users, such as their sessions."""

from pilothouse.runtime.commands.command_group import CommandGroup


class DocumentCommands(CommandGroup):
    """Small documents of users, such as a session: each is read and replaced as a whole."""

    async def read(self, user: str, name: str) -> bytes | None:
        """A document of a user; None if there is none. Raises: InvalidInput for an invalid user name, StoreDamaged."""
        return await self._pool.dependencies.store.document(user, name)

    async def write(self, user: str, name: str, data: bytes) -> None:
        """Replace a document as a whole, durably. Raises: StoreRefused; then the old document is unchanged."""
        await self._pool.dependencies.store.put_document(user, name, data)

    async def set_aside(self, user: str, name: str, data: bytes) -> str:
        """Preserve the bytes of an unreadable document, out of use; returns their place. Raises: StoreRefused."""
        return await self._pool.dependencies.store.put_document_aside(user, name, data)
