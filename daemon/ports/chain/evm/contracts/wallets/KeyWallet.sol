// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// A contract wallet that agrees to what its owner's key signed (ERC-1271). The signature carries one byte more than a
/// key's, so that no reader takes it for one.
contract KeyWallet {
    bytes4 private constant AGREED = 0x1626ba7e;
    address public immutable owner;

    constructor(address owner_) {
        owner = owner_;
    }

    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        if (signature.length != 66) return 0xffffffff;
        address signer =
            ecrecover(digest, uint8(signature[64]), bytes32(signature[0:32]), bytes32(signature[32:64]));
        return signer != address(0) && signer == owner ? AGREED : bytes4(0xffffffff);
    }
}

/// Builds such wallets at addresses that are known before (ERC-6492).
contract KeyWalletFactory {
    function create(address owner, bytes32 salt) external returns (address wallet) {
        wallet = addressOf(owner, salt);
        if (wallet.code.length == 0) new KeyWallet{salt: salt}(owner);
    }

    function addressOf(address owner, bytes32 salt) public view returns (address) {
        bytes32 codeHash = keccak256(abi.encodePacked(type(KeyWallet).creationCode, abi.encode(owner)));
        return address(uint160(uint256(keccak256(abi.encodePacked(hex"ff", address(this), salt, codeHash)))));
    }
}
