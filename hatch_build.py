"""Addresses in the metadata of a package: those of the repository that releases it."""

import os

from hatchling.metadata.plugin.interface import MetadataHookInterface


class CustomMetadataHook(MetadataHookInterface):
    """What releases the package says where it is; a build at home names no address."""

    def update(self, metadata):
        """Set the URLs of the project."""
        repository = os.environ.get("SKPROB_REPOSITORY", "").rstrip("/")
        metadata["urls"] = {}
        if repository:
            *_, owner, name = repository.split("/")
            metadata["urls"] = {
                "Documentation": f"https://{owner.lower()}.github.io/{name}/",
                "Source": repository,
                "Issues": f"{repository}/issues",
                "Changelog": f"{repository}/blob/main/CHANGELOG.md",
            }
